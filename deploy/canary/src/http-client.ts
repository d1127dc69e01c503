import { z } from 'zod';

const answerSchema = z.looseObject({ result: z.string(), msg: z.string(), code: z.string().optional() });
type Answer = { status: number; body: z.infer<typeof answerSchema> };

export interface HttpClient {
  request(method: 'GET' | 'POST', path: string, form: Record<string, string>, key?: string): Promise<Answer>;
}

/** The public API as any client uses it. Rejects if no answer came: the outcome is unknown. */
export function createHttpClient(options: {
  url: string;
  email: string;
  apiKey: string;
  signal: AbortSignal;
}): HttpClient {
  const authorization = `Basic ${Buffer.from(`${options.email}:${options.apiKey}`).toString('base64')}`;
  return {
    async request(method, path, form, key) {
      const fields = new URLSearchParams(form);
      const response = await fetch(`${options.url}/api/v1${path}${method === 'GET' ? `?${fields}` : ''}`, {
        method,
        headers: { authorization, 'user-agent': 'NatterCanary/1.0', ...(key ? { 'idempotency-key': key } : {}) },
        ...(method === 'GET' ? {} : { body: fields }),
        signal: AbortSignal.any([options.signal, AbortSignal.timeout(90_000)]),
      });
      return { status: response.status, body: answerSchema.parse(await response.json()) };
    },
  };
}
