/** An error as the driver throws it: with an SQLSTATE, and the violated constraint. */
export class PostgresError extends Error {
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(code: string, message: string, constraint?: string) {
    super(message);
    this.code = code;
    if (constraint !== undefined) this.constraint = constraint;
  }
}
