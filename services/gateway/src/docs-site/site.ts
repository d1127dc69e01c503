/**
 * The documentation for authors of bots and clients: guides, operations and events, generated from the contract and from
 * `docs/guides`. Gateways serve it at `/docs`, and `npm run docs:site` writes it as files.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guideContent, readGuides } from './guides.ts';
import { type Look, layout } from './layout.ts';
import { eventsContent, eventsPage, startContent, topicContent, topics } from './pages.ts';
import { searchIndex } from './search-index.ts';

export interface SiteFile {
  type: string;
  /** Generates the file, which takes tens of milliseconds for a large page. */
  text(): string;
}

export interface Folders {
  assets: string;
  guides: string;
}

const html = 'text/html; charset=utf-8';

/** Pages by their names, the first one as `index`, and other files with their extensions. */
export function docsSite(folders: Folders, where: Omit<Look, 'guides'>): Map<string, SiteFile> {
  const guides = readGuides(folders.guides);
  const look = { ...where, guides };
  const page = (name: string, title: string, content: () => string): [string, SiteFile] => [
    name,
    { type: html, text: () => layout(`${title} · Natter API`, name, content(), look) },
  ];
  const asset = (name: string, type: string): [string, SiteFile] => [
    name,
    { type, text: () => readFileSync(join(folders.assets, name), 'utf8') },
  ];
  const entries: [string, SiteFile][] = [
    page('index', 'Start', () => startContent(guides, look.linkTo)),
    ...guides.map((guide) => page(guide.page, guide.title, () => guideContent(guide.text, look.linkTo))),
    ...topics.map((topic) => page(topic.page, topic.name, () => topicContent(topic, look.linkTo))),
    page(eventsPage, 'Events', () => eventsContent(look.linkTo)),
    asset('docs.css', 'text/css; charset=utf-8'),
    asset('docs.js', 'text/javascript; charset=utf-8'),
    ['search.json', searchFile(() => JSON.stringify(searchIndex(guides, look.linkTo)))],
  ];
  const site = new Map(entries);
  if (site.size !== entries.length) throw new Error('Two pages of the documentation have the same name');
  return site;
}

const searchFile = (text: () => string): SiteFile => ({ type: 'application/json; charset=utf-8', text });
