import { type FetchRules, guardedGet } from '../model/outgoing/guarded-get.ts';
import { bodyOf, Refused } from '../model/outgoing/guarded-request.ts';
import { mediaTypeOf } from './media-type.ts';

export interface Media {
  type: string;
  content: Buffer;
}

/** Fetches media of another site. Throws `Refused`, or the error of the connection. */
export async function fetchMedia(address: string, rules: FetchRules): Promise<Media> {
  const { answer } = await guardedGet(address, 'image/*,video/*,audio/*', rules);
  const content = await bodyOf(answer, rules.maxBytes);
  const type = mediaTypeOf(content, answer.headers['content-type'] ?? '');
  if (type === undefined) throw new Refused('not an image, video or audio file');
  return { type, content };
}
