/** The slowest body that the server receives, and the longest time for it, with its usual settings. */
const bodyBytesPerMs = 1.024;
const maxBodyMs = 600_000;

/** Aborts an attempt that makes no progress for some time. */
export interface Patience {
  readonly signal: AbortSignal;
  /** The server has answered, or sent a further part of its answer: the time begins again. */
  progressed(): void;
  end(): void;
}

/** The time for the body is added before the answer begins, because `fetch` does not report the progress of a body. */
export function startPatience(ms: number, body: string | FormData | undefined): Patience {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort(new DOMException('The request made no progress', 'TimeoutError'));
  let timer = setTimeout(giveUp, ms + Math.min(bytesOf(body) / bodyBytesPerMs, maxBodyMs));
  return {
    signal: controller.signal,
    progressed() {
      clearTimeout(timer);
      timer = setTimeout(giveUp, ms);
    },
    end: () => clearTimeout(timer),
  };
}

function bytesOf(body: string | FormData | undefined): number {
  if (body === undefined) return 0;
  if (typeof body === 'string') return body.length;
  let bytes = 0;
  for (const [, value] of body) bytes += typeof value === 'string' ? value.length : value.size;
  return bytes;
}
