/** An error as the driver throws it: with an SQLSTATE, the violated constraint, and details. */
export class PostgresError extends Error {
  readonly code: string;
  readonly constraint: string | undefined;
  readonly detail: string | undefined;

  constructor(code: string, message: string, { constraint, detail }: { constraint?: string; detail?: string } = {}) {
    super(message);
    this.code = code;
    if (constraint !== undefined) this.constraint = constraint;
    if (detail !== undefined) this.detail = detail;
  }
}
