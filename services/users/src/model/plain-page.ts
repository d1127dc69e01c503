import type { Page } from '@natter/contracts';

const style = [
  ':root{color-scheme:light dark;background:#fff;color:#1b1d23}a{color:#3349b0}.problem{color:#b00020}',
  'body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem}h1{font-size:1.5rem}',
  'label,button,input{display:block;width:100%;box-sizing:border-box;margin:.3rem 0}label{margin-top:1rem}',
  'input,button{padding:.6rem;font:inherit;border:1px solid gray;border-radius:.3rem}',
  'button{margin:1.5rem 0;border-color:#3b55c4;background:#3b55c4;color:#fff;font-weight:600;cursor:pointer}',
  '@media(prefers-color-scheme:dark){:root{background:#17191e;color:#e6e8ee}a{color:#a9b8ff}.problem{color:#ff8a80}}',
].join('');

/** A page without scripts, opened from a mail. */
export const plainPage = (status: number, title: string, body: string): Page => ({
  status,
  content_type: 'text/html; charset=utf-8',
  body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head>
<body><h1>${escaped(title)}</h1>
${body}
</body></html>
`,
  is_base64: false,
  cache_seconds: 0,
});

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

export const gone = () =>
  plainPage(404, 'This link does not work', '<p>It was used already, or has expired. Ask for a new one.</p>');
