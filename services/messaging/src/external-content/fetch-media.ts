import { type FetchRules, guardedGet, Refused } from '../model/outgoing/guarded-get.ts';
import { mediaTypeOf } from './media-type.ts';

export interface Media {
  type: string;
  content: Buffer;
}

/** Fetches media of another site. Throws `Refused`, or the error of the connection. */
export async function fetchMedia(address: string, rules: FetchRules): Promise<Media> {
  const { answer } = await guardedGet(address, 'image/*,video/*,audio/*', rules);
  try {
    if (Number(answer.headers['content-length'] ?? 0) > rules.maxBytes) throw new Refused('too large');
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > rules.maxBytes) throw new Refused('too large');
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    const type = mediaTypeOf(content, answer.headers['content-type'] ?? '');
    if (type === undefined) throw new Refused('not an image, video or audio file');
    return { type, content };
  } finally {
    answer.destroy();
  }
}
