// Owns how a question of a server is refused: on the wire it becomes an error that the server can act on.

export class RefusedInput extends Error {
  override readonly name = 'RefusedInput';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** "Method not found", as the protocol says for a capability that was not advertised. */
export const nobodyAnswers = (method: string) => new RefusedInput(-32601, `nobody here answers ${method}`);

/** "Invalid params": it is not what the protocol allows to ask, so nobody is shown it. */
export const badQuestion = (problem: string) => new RefusedInput(-32602, problem);
