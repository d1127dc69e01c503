/**
 * The server refused the request: `code` is from the closed list in `libs/contracts/src/model/error.ts`, `extra` holds its
 * further fields. A proxy that refuses with a page of its own names no code, which is then empty.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly extra: Record<string, unknown>;

  constructor(status: number, { msg, code, result, ...extra }: Record<string, unknown>) {
    super(typeof msg === 'string' ? msg : `HTTP ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = typeof code === 'string' ? code : '';
    this.extra = extra;
  }
}
