import { useLayoutEffect, useRef } from 'react';
import './page-preview.css';
import { contentOf } from './content.ts';

/** A text as the server rendered it. */
export function Rendered({ html }: { html: string }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.replaceChildren(contentOf(html)), [html]);
  return <div className="content" dir="auto" ref={box} />;
}
