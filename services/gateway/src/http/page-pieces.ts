import type { Page } from '@natter/contracts';

/** Bytes of a page that is not text. They are decoded one piece at a time, because one turn for all would delay others. */
interface Content {
  size: number;
  /** Size of what stays in memory until all is read. */
  heldBytes: number;
  chunks(): Iterable<Buffer>;
}

export interface ReceivedPage {
  page: Page;
  /** The body, if it came in pieces. `page.body` is then empty. */
  content: Content | undefined;
}

const bodyStart = '"body":"';

/** The pieces of a page's JSON. A body in base64 may be the last member, in pieces of its own; it is not parsed. */
export function readPage(received: readonly Uint8Array[]): ReceivedPage {
  const pieces = received.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const [head, ...rest] = pieces;
  const end = rest.pop();
  if (!head || end?.toString() !== '"}' || head.toString('latin1', head.length - bodyStart.length) !== bodyStart)
    return { page: JSON.parse(Buffer.concat(pieces).toString()) as Page, content: undefined };
  return { page: JSON.parse(Buffer.concat([head, end]).toString()) as Page, content: contentOf(rest) };
}

function contentOf(pieces: readonly Buffer[]): Content {
  const characters = pieces.reduce((sum, { length }) => sum + length, 0);
  const last = pieces
    .map((piece) => piece.toString('latin1', Math.max(piece.length - 2, 0)))
    .join('')
    .slice(-2);
  const padding = last.length - last.replaceAll('=', '').length;
  return {
    size: (characters / 4) * 3 - padding,
    heldBytes: characters,
    *chunks() {
      // A piece may end inside a group of four characters.
      let begun = '';
      for (const piece of pieces) {
        const text = begun + piece.toString('latin1');
        const whole = text.length - (text.length % 4);
        begun = text.slice(whole);
        if (whole > 0) yield Buffer.from(text.slice(0, whole), 'base64');
      }
    },
  };
}
