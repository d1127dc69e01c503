import { setImmediate } from 'node:timers/promises';
import { fileChunkBytes, type Page } from '@natter/contracts';
import { JsonPieces } from './json-pieces.ts';

/**
 * A page whose body is bytes, as JSON in pieces: neither this process nor the gateway converts a large body in one turn
 * of its event loop. Concatenated, the pieces are the page with its body in base64, the last member.
 */
export async function pageOfBytes(
  page: Omit<Page, 'body' | 'is_base64'> & { body?: never },
  content: Buffer,
): Promise<JsonPieces> {
  const json = JSON.stringify({ ...page, is_base64: true, body: '' });
  const pieces = [Buffer.from(json.slice(0, -2))];
  // A slice of whole groups of three bytes has no padding.
  for (let at = 0; at < content.length; at += fileChunkBytes) {
    if (at > 0) await setImmediate();
    pieces.push(Buffer.from(content.toString('base64', at, Math.min(at + fileChunkBytes, content.length)), 'latin1'));
  }
  return new JsonPieces([...pieces, Buffer.from(json.slice(-2))]);
}
