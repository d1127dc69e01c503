import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { codeBlock, escaped, idOf } from './html.ts';
import type { LinkTo } from './pages.ts';

export interface Guide {
  page: string;
  title: string;
  /** The text of the guide, in Markdown. */
  about: string;
  text: string;
}

/** The guides that the table of `README.md` lists, in its order. */
export function readGuides(folder: string): Guide[] {
  const names = new Set(readdirSync(folder));
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| \[(.+?)\]\(([\w-]+)\.md\)\s*\| (.+?)\s*\|$/gm)];
  return rows.map(([, title = '', page = '', about = '']) => {
    const file = `${page}.md`;
    if (!names.has(file)) throw new Error(`${folder} has no ${file}`);
    return { page, title, about, text: readFileSync(join(folder, file), 'utf8') };
  });
}

const repository = 'https://github.com/natter-chat/natter/blob/main/';

export function guideContent(text: string, linkTo: LinkTo): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading) {
        return `<h${depth} id="${idOf(title)}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      code: ({ text: code }: Tokens.Code) => codeBlock(code),
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(addressOf(href, linkTo))}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return html.replaceAll('<table>', '<div class="wide" tabindex="0"><table>').replaceAll('</table>', '</table></div>');
}

/** Guides link to each other by their files, and to other files of the repository. */
function addressOf(href: string, linkTo: LinkTo): string {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const [, page = '', part] = /^([\w-]+)\.md(?:#(.+))?$/.exec(href) ?? [];
  if (page === 'README') return linkTo('index');
  return page === '' ? new URL(href, `${repository}docs/guides/`).href : linkTo(page, part);
}

/** Titles of the parts of a guide. */
export const headingsOf = (text: string): string[] => [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
