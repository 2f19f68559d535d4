// Owns the promise that a switch is complete: a new variant that nobody handled is a type error here.

export function unreachable(value: never): never {
  throw new TypeError(`unhandled variant: ${JSON.stringify(value)}`);
}
