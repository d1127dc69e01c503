import type { Guide } from './guides.ts';
import { escaped } from './html.ts';
import { eventsPage, type LinkTo, topics } from './pages.ts';

export interface Look {
  linkTo: LinkTo;
  /** The address of a file of the site. */
  linkToFile(name: string): string;
  /** Whether the pages are on the server that they describe, so that a reader can send requests. */
  canTry: boolean;
  guides: readonly Guide[];
}

/** A page of the site: header, contents, and the page's own part. */
export function layout(title: string, page: string, content: string, look: Look): string {
  const { linkTo, linkToFile, canTry } = look;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><link rel="stylesheet" href="${linkToFile('docs.css')}"><script src="${linkToFile('docs.js')}" defer></script></head>
<body data-search="${linkToFile('search.json')}"${canTry ? ' data-can-try' : ''}><a class="skip" href="#content">Skip to the content</a>
<header><a class="home" href="${linkTo('index')}">Natter API</a></header>
<nav aria-label="Contents" id="contents">${contents(page, look)}</nav>
<main id="content" tabindex="-1">${content}</main></body></html>
`;
}

function contents(page: string, { linkTo, guides }: Look): string {
  const entry = (target: string, title: string, below = ''): string =>
    `<li><a href="${linkTo(target)}"${target === page ? ' aria-current="page"' : ''}>${escaped(title)}</a>${below}</li>`;
  const operationsOf = (name: string): string => {
    const own = topics.find((topic) => topic.page === name)?.operations ?? [];
    const links = own.map(
      ({ name: part, http, summary }) =>
        `<li><a href="${linkTo(name, part)}" title="${escaped(summary)}"><b>${http?.method}</b> ${escaped(http?.path ?? '')}</a></li>`,
    );
    return `<ul>${links.join('')}</ul>`;
  };
  return `<h2>Guides</h2><ul>${guides.map(({ page: target, title }) => entry(target, title)).join('')}</ul>
<h2>Operations</h2><ul>${topics.map(({ page: target, name }) => entry(target, name, target === page ? operationsOf(target) : '')).join('')}</ul>
<h2>Events</h2><ul>${entry(eventsPage, 'All events')}</ul>`;
}
