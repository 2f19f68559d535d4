// Owns how a question of a server is refused: on the wire it becomes an error that the server can act on.

export class ServerRequestError extends Error {
  override readonly name = 'RefusedInput';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** "Method not found", as the protocol says for a capability that was not advertised. */
export const methodNotFound = (method: string) => new ServerRequestError(-32601, `nobody here answers ${method}`);

/** "Invalid params": it is not what the protocol allows to ask, so nobody is shown it. */
export const invalidParams = (problem: string) => new ServerRequestError(-32602, problem);
