import { publicEvents } from '@natter/contracts';
import { type Guide, headingsOf } from './guides.ts';
import { idOf } from './html.ts';
import { eventsPage, type LinkTo, partOfEvent, topics } from './pages.ts';

/** An entry of the site's search: a title, a note shown beside it, an address, and further words. */
export type Entry = [title: string, detail: string, address: string, words: string];

export function searchIndex(guides: readonly Guide[], linkTo: LinkTo): Entry[] {
  return [
    ...guides.flatMap(({ page, title, text, about }): Entry[] => [
      [title, 'Guide', linkTo(page), about],
      ...headingsOf(text).map((heading): Entry => [heading, title, linkTo(page, idOf(heading)), '']),
    ]),
    ...topics.flatMap(({ page, operations }) =>
      operations.map(({ name, http, summary, params }): Entry => {
        const words = [name.replaceAll('-', ' '), ...Object.keys(params)].join(' ');
        return [`${http?.method} ${http?.path}`, summary, linkTo(page, name), words];
      }),
    ),
    ...[...publicEvents].map(
      ([name, { summary }]): Entry => [`${name} event`, summary, linkTo(eventsPage, partOfEvent(name)), ''],
    ),
  ];
}
