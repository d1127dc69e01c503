import { ApiError } from '@natter/client';
import { csrfToken } from './csrf.ts';

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

/** Uploads a file in parts, and continues after interruptions where the server stands. A cancelled one is deleted. */
export async function upload(file: File, { signal, onProgress }: UploadOptions): Promise<Uploaded> {
  const created = await persist(signal, () =>
    request('POST', '/json/tus', signal, undefined, {
      'upload-length': String(file.size),
      'upload-metadata': `filename ${base64(file.name)},filetype ${base64(file.type)}`,
    }),
  );
  const address = `/json/tus/${String(created.upload_id)}`;
  let state = created;
  try {
    while (typeof state.url !== 'string') {
      const offset = Number(state.upload_offset);
      onProgress(offset);
      state = await persist(signal, async () => {
        const part = file.slice(offset, offset + partBytes);
        await request('PATCH', address, signal, part, { 'upload-offset': String(offset) }).catch((error: unknown) => {
          // The part arrived, and its answer was lost: the state says where to continue.
          if (!(error instanceof ApiError) || error.code !== 'UPLOAD_OFFSET_MISMATCH') throw error;
        });
        return request('GET', address, signal);
      });
    }
    onProgress(file.size);
    return { url: state.url, filename: String(state.filename ?? file.name) };
  } catch (error) {
    if (signal.aborted) void request('DELETE', address).catch(() => undefined);
    throw error;
  }
}

type Answer = Record<string, unknown>;

async function request(
  method: string,
  path: string,
  signal?: AbortSignal,
  body?: Blob,
  headers: Record<string, string> = {},
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
  const answer = (text === '' ? {} : JSON.parse(text)) as Answer;
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

/** Repeats after failures of the network and of the server, until it succeeds, is refused, or is cancelled. */
async function persist(signal: AbortSignal, once: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (isRefused || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(200 * 2 ** attempt, maxWaitMs)));
      signal.throwIfAborted();
    }
  }
}

const base64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(''));
