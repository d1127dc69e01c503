import { useLayoutEffect, useRef } from 'react';
import './page-preview.css';
import { markAlertWords } from './alert-marks.ts';
import { contentOf } from './content.ts';
import { keepField, keptField } from './kept-fields.ts';

interface RenderedProps {
  html: string;
  /** The message whose opened spoilers stay open while its row is off the screen. */
  messageId?: number;
  /** Words that are marked. */
  alertWords?: readonly string[];
}

const noWords: readonly string[] = [];

/** A text as the server rendered it. */
export function Rendered({ html, messageId, alertWords = noWords }: RenderedProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const content = contentOf(html);
    if (messageId !== undefined) keepSpoilers(content, messageId);
    markAlertWords(content, alertWords);
    box.current?.replaceChildren(content);
  }, [html, messageId, alertWords]);
  return <div className="content" dir="auto" ref={box} />;
}

function keepSpoilers(content: DocumentFragment, messageId: number): void {
  for (const [nth, spoiler] of content.querySelectorAll('details').entries()) {
    const name = `${messageId} spoiler ${nth}`;
    spoiler.open = keptField(name) === true;
    spoiler.addEventListener('toggle', () => keepField(name, spoiler.open));
  }
}
