import { exampleOfEvent, featureLevel, type Operation, publicEvents, tags } from '@natter/contracts';
import { codeBlock, escaped, idOf, marked } from './html.ts';
import { operationPart } from './operation-part.ts';
import { fieldList, shapeOf } from './shape.ts';

/** An address in the site: of a page, or of a part of it. */
export type LinkTo = (page: string, part?: string) => string;

export interface Topic {
  name: string;
  page: string;
  description: string;
  operations: Operation[];
}

/** Operations that programs call, by topic. */
export const topics: readonly Topic[] = tags.map(({ name, description, operations }) => ({
  name,
  page: idOf(name),
  description,
  operations: [...operations].filter(({ http, isAlias }) => http !== undefined && !isAlias),
}));

export const eventsPage = 'event-types';
export const partOfEvent = (name: string): string => `event-${idOf(name)}`;

export function topicContent({ name, description, operations }: Topic, linkTo: LinkTo): string {
  const toEvent = (type: string): string => {
    const first = [...publicEvents.keys()].find((event) => event === type || event.startsWith(`${type}/`));
    return first === undefined ? linkTo(eventsPage) : linkTo(eventsPage, partOfEvent(first));
  };
  return `<h1>${escaped(name)}</h1><p>${escaped(description)}</p>${operations.map((one) => operationPart(one, toEvent)).join('')}`;
}

export function eventsContent(linkTo: LinkTo): string {
  const parts = [...publicEvents].map(([name, { summary, view }]) => {
    const fields = fieldList(shapeOf(view));
    return `<section id="${partOfEvent(name)}"><h2><a href="#${partOfEvent(name)}"><code>${name.replace('/', '</code> <code>')}</code></a></h2>
<p>${marked(summary)}</p>${fields === '' ? '<p>It has no further fields.</p>' : fields}${codeBlock(JSON.stringify(exampleOfEvent(name), null, 2))}</section>`;
  });
  return `<h1>Events</h1><p>What a <a href="${linkTo('events', 'register')}">queue</a> tells a client, by <code>type</code> and, where it has one,
<code>op</code>. Every event also has an <code>id</code>, which grows within a queue. <a href="${linkTo('following')}">Following events</a> explains queues.</p>${parts.join('')}`;
}

export function startContent(
  guides: readonly { page: string; title: string; about: string }[],
  linkTo: LinkTo,
): string {
  const list = (entries: { page: string; title: string; about: string }[]): string =>
    `<ul class="cards">${entries.map(({ page, title, about }) => `<li><a href="${linkTo(page)}">${escaped(title)}</a> <span>${marked(about)}</span></li>`).join('')}</ul>`;
  return `<h1>Natter API</h1><p>The HTTP API of this chat server, feature level ${featureLevel}. As data: <a href="/openapi.json">OpenAPI</a>,
<a href="/asyncapi.json">AsyncAPI</a> of the events.</p>
<h2>A first request</h2><p>Paths are under <code>/api/v1</code>. A request is authenticated by HTTP Basic with the email address and the API key of a
user or a bot. Parameters are fields of a form, or of the query of a GET request: text as it is, other values as JSON.</p>
${codeBlock(firstRequest)}
<p>An answer is JSON. Its <code>result</code> is <code>success</code> or <code>error</code>; an error has a <code>code</code> for programs and a
<code>msg</code> for people.</p>
<h2>Guides</h2>${list([...guides])}
<h2>Operations</h2>${list(topics.map(({ page, name, description }) => ({ page, title: name, about: description })))}
<h2>Events</h2>${list([{ page: eventsPage, title: 'Events', about: `All ${publicEvents.size} events, with their fields and examples.` }])}`;
}

const firstRequest = `curl -u ada@example.com:API_KEY https://chat.example.com/api/v1/messages \\
  -d type=channel -d to=general -d topic=lunch -d content='Lunch at **noon**?'`;
