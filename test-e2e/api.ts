/** A minimal client of the HTTP API that uses no code of Natter. */
export interface Credentials {
  email: string;
  api_key: string;
}
// biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field by the tests.
export type Answer = Record<string, any>;

/** The header "Authorization" of a user. */
export const authorizationOf = ({ email, api_key }: Credentials): string =>
  `Basic ${Buffer.from(`${email}:${api_key}`).toString('base64')}`;

/** A user who sends a request, with headers of their own. */
interface Caller extends Credentials {
  headers?: Record<string, string> | undefined;
}

/** `route`: method and path, such as `POST /messages`. */
export async function request(
  url: string,
  caller: Caller,
  route: string,
  form: Record<string, unknown> = {},
): Promise<{ status: number; body: Answer }> {
  const method = route.slice(0, route.indexOf(' '));
  const path = route.slice(method.length + 1);
  const fields = new URLSearchParams(
    Object.entries(form).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
  const query = method === 'GET' ? `?${fields}` : '';
  const response = await fetch(`${url}/api/v1${path}${query}`, {
    method,
    headers: { authorization: authorizationOf(caller), ...caller.headers },
    ...(method === 'GET' ? {} : { body: fields }),
    signal: AbortSignal.timeout(120_000),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}
