// Owns the errors with which a server request is refused; each becomes a JSON-RPC error response.

export class ServerRequestError extends Error {
  override readonly name = 'ServerRequestError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** "Method not found": what the protocol demands for a capability that was not advertised. */
export const methodNotFound = (method: string) =>
  new ServerRequestError(-32601, `this client does not support ${method}`);

/** "Invalid params": the protocol does not allow the request, so no person sees it. */
export const invalidParams = (problem: string) => new ServerRequestError(-32602, problem);
