// Owns the proof that a switch is complete: a variant without a case is a type error here.

export function unreachable(value: never): never {
  throw new TypeError(`unhandled variant: ${JSON.stringify(value)}`);
}
