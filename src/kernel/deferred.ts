// Owns a promise that is settled from outside; Node 20 has no `Promise.withResolvers`.

export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export function createDeferred<Value>(): Deferred<Value> {
  let resolve: ((value: Value) => void) | undefined;
  let reject: ((reason: unknown) => void) | undefined;
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  if (resolve === undefined || reject === undefined) throw new TypeError('a promise runs its executor at once');
  return { promise, resolve, reject };
}
