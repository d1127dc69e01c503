import { ApiError } from '@natter/client';
import { t } from '../text/text.ts';
import { csrfToken } from './csrf.ts';
import { randomId } from './random-id.ts';

/** Small enough that progress is seen, and that an interruption costs little. */
const partBytes = 1024 * 1024;
const maxWaitMs = 5_000;

export interface Uploaded {
  url: string;
  filename: string;
}

interface UploadOptions {
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

/** The server's state of an upload; with a `url` once it has the whole file. */
interface Known {
  offset: number;
  url: string | undefined;
  filename: string | undefined;
}

/** Uploads a file in parts, and continues after interruptions at the offset of the server. A cancelled upload is deleted. */
export async function upload(file: File, { signal, onProgress }: UploadOptions): Promise<Uploaded> {
  // A repeated creation is answered with the same upload: others would take space until they expire.
  const key = randomId();
  let { address, known } = await persist(signal, async () => {
    const headers = {
      'idempotency-key': key,
      'upload-length': String(file.size),
      'upload-metadata': `filename ${base64(file.name)},filetype ${base64(file.type)}`,
    };
    const created = await request('POST', '/json/tus', { signal, headers });
    return { address: `/json/tus/${String(created.upload_id)}`, known: knownFrom(created) };
  });
  try {
    while (known.url === undefined) {
      const { offset } = known;
      onProgress(offset);
      // Outside the repeated part: a file that was changed or deleted stays unreadable.
      const part = await file.slice(offset, offset + partBytes).arrayBuffer();
      known = await persist(signal, () => append(address, offset, part, signal));
    }
    onProgress(file.size);
    return { url: known.url, filename: known.filename ?? file.name };
  } catch (error) {
    void request('DELETE', address).catch(() => undefined);
    throw error instanceof DOMException && !signal.aborted
      ? new Error(t('theFileWasChangedMovedOrDeleted'), { cause: error })
      : error;
  }
}

async function append(address: string, offset: number, part: ArrayBuffer, signal: AbortSignal): Promise<Known> {
  try {
    const headers = { 'upload-offset': String(offset) };
    return knownFrom(await request('PATCH', address, { signal, body: part, headers }));
  } catch (error) {
    // The part arrived, and its answer was lost: the state has the offset to continue from.
    if (!(error instanceof ApiError) || error.code !== 'UPLOAD_OFFSET_MISMATCH') throw error;
    return knownFrom(await request('GET', address, { signal }));
  }
}

type Answer = Record<string, unknown>;

function knownFrom({ upload_offset, url, filename }: Answer): Known {
  const offset = Number(upload_offset ?? Number.NaN);
  // The answer is not from the server; it may be an error page of a proxy.
  if (Number.isNaN(offset)) throw new Error(t('theAnswerIsNotOneOfThe'));
  return {
    offset,
    url: typeof url === 'string' ? url : undefined,
    filename: typeof filename === 'string' ? filename : undefined,
  };
}

class Refused extends ApiError {
  readonly retryAfterMs: number;
  constructor(response: Response, body: Answer) {
    super(response.status, body);
    this.retryAfterMs = 1_000 * (Number(response.headers.get('retry-after')) || 0);
  }
}

interface RequestOptions {
  signal?: AbortSignal;
  body?: ArrayBuffer;
  headers?: Record<string, string>;
}

async function request(
  method: string,
  path: string,
  { signal, body, headers = {} }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: {
      'tus-resumable': '1.0.0',
      'x-csrftoken': csrfToken(),
      ...(body ? { 'content-type': 'application/offset+octet-stream' } : {}),
      ...headers,
    },
    ...(body ? { body } : {}),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  // The header of an answer without a body has the number of bytes on the server.
  if (response.ok) return text === '' ? { upload_offset: response.headers.get('upload-offset') } : parsed(text);
  throw new Refused(response, parsed(text));
}

/** Proxies refuse with pages that are not JSON. */
function parsed(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer) : {};
  } catch {
    return {};
  }
}

/** Repeats after failures of the network and of the server, until it succeeds, is refused, or is cancelled. */
async function persist<T>(signal: AbortSignal, once: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      if (isRefusal(error) || signal.aborted) throw error;
      const backoffMs = Math.random() * Math.min(200 * 2 ** attempt, maxWaitMs);
      const waitMs = error instanceof Refused && error.retryAfterMs > 0 ? error.retryAfterMs + backoffMs : backoffMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      signal.throwIfAborted();
    }
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return false;
  // A proxy has no route to the server, or waited too long.
  return error.code !== '' || (error.status !== 404 && error.status !== 408);
}

const base64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(''));
