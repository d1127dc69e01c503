/**
 * PostgreSQL refused a login for as long as the work could wait: the password, the role or the database. Nothing was sent. The
 * code is the one of a server that rejects connections, so that the error counts as an outage, whatever PostgreSQL called it.
 */
export class RefusedLogin extends Error {
  readonly code = '08004';

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'RefusedLogin';
  }
}
