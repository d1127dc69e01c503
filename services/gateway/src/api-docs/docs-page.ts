import {
  describeFields,
  errorStatus,
  exampleOf,
  featureLevel,
  meaningOf,
  type Operation,
  type Param,
  tags,
  whoMayCall,
} from '@natter/contracts';
import { z } from 'zod';

interface Shape {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  items?: Shape;
  additionalProperties?: Shape | boolean;
  default?: unknown;
  properties?: Record<string, Shape>;
  description?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/**
 * The human-readable reference, generated from the same contract as `/openapi.json`: one page without scripts or
 * external resources.
 */
export function docsPage(): string {
  const topics = tags.map(({ name, description, operations }) => ({
    name,
    description,
    own: [...operations].filter((operation) => operation.http !== undefined && !operation.isAlias),
  }));
  const sections = topics.map(
    ({ name, description, own }) =>
      `<h2 id="${idOf(name)}">${name}</h2><p>${escaped(description)}</p>${own.map(operationPart).join('')}`,
  );
  const index = topics.map(({ name, own }) => {
    const links = own.map(
      ({ name: id, http, summary }) =>
        `<li><a href="#${id}" title="${escaped(summary)}"><b>${http?.method}</b> ${escaped(http?.path ?? '')}</a></li>`,
    );
    return `<details><summary><a href="#${idOf(name)}">${name}</a></summary><ul>${links.join('')}</ul></details>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Natter HTTP API</title><style>${style}</style><body><nav aria-label="Operations">${index.join('')}</nav><main><h1>Natter HTTP API</h1>
<p>Feature level ${featureLevel}. Paths are under <code>/api/v1</code>; parameters are form fields in the body, or in the query.
Authentication is HTTP Basic with an email address and an API key. As data: <a href="/openapi.json">OpenAPI</a>,
<a href="/asyncapi.json">AsyncAPI</a> of the events.</p>${sections.join('')}</main></body></html>`;
}

function operationPart(operation: Operation): string {
  const { name, http, summary, params, result, errors, events } = operation;
  const rows = Object.entries(params).map(([key, param]) => parameterRow(key, param, http?.path ?? ''));
  const facts = [
    escaped(whoMayCall(operation)),
    errors.length > 0
      ? `Errors: ${errors.map((code) => `<code>${code}</code> (${errorStatus[code]})`).join(', ')}.`
      : '',
    events.length > 0 ? `Events: ${events.map((type) => `<code>${type}</code>`).join(', ')}.` : '',
  ];
  const answer = fieldList(shapeOf(result));
  return `<section id="${name}"><h3><b>${http?.method}</b> ${escaped(http?.path ?? '')}</h3><p>${escaped(summary)} ${facts.join(' ')}</p>
${rows.length > 0 ? `<div class="wide"><table><tr><th>Parameter<th>Type<th>Required<th>Default<th>Meaning</tr>${rows.join('')}</table></div>` : ''}
<p>Example:</p><pre>${escaped(curlOf(operation))}</pre>
${answer === '' ? '' : `<p>Answer:</p>${answer}`}</section>`;
}

/** The example request as a command for a shell. */
function curlOf(operation: Operation): string {
  const { http, params, caller } = operation;
  const values = Object.entries(exampleOf(operation)).map(([key, value]) => ({
    key,
    text: typeof value === 'string' ? value : JSON.stringify(value),
  }));
  const path = values.reduce(
    (url, { key, text }) => url.replace(`{${key}}`, encodeURIComponent(text)),
    http?.path ?? '',
  );
  const fields = values.filter(({ key }) => !http?.path.includes(`{${key}}`));
  const file = Object.keys(params).includes('file');
  const isQuery = http?.method === 'GET';
  return [
    `curl ${isQuery && fields.length > 0 ? '-G' : `-X ${http?.method}`} https://chat.example.com/api/v1${path}`,
    ...(caller === 'public' ? [] : ['-u ada@example.com:API_KEY']),
    ...fields.map(({ key, text }) => `${file ? '-F' : '--data-urlencode'} ${quoted(`${key}=${text}`)}`),
    ...(file ? ['-F file=@picture.png'] : []),
  ].join(' \\\n  ');
}
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function parameterRow(key: string, param: Param, path: string): string {
  const shape = shapeOf(param.schema);
  const names = [key, ...param.aliases].map((name) => `<code>${escaped(name)}</code>`).join(' or ');
  const isRequired = param.required || path.includes(`{${key}}`);
  const initial = shape.default === undefined ? '' : `<code>${escaped(JSON.stringify(shape.default))}</code>`;
  return `<tr><td>${names}<td>${escaped(typeOf(shape))}<td>${isRequired ? 'yes' : 'no'}<td>${initial}<td>${marked(shape.description ?? meaningOf(key) ?? '')}${fieldList(shape)}</tr>`;
}

/** The fields of a value and their descriptions, at every depth. */
function fieldList(shape: Shape): string {
  const own = Object.entries(shape.properties ?? {}).map(
    ([key, field]) =>
      `<li><code>${escaped(key)}</code> ${escaped(typeOf(field))}: ${marked(field.description ?? '')}${fieldList(field)}</li>`,
  );
  const list = own.length > 0 ? `<ul>${own.join('')}</ul>` : '';
  const inner = [shape.items, shape.additionalProperties, ...(shape.anyOf ?? [])];
  return list + inner.map((one) => (typeof one === 'object' ? fieldList(one) : '')).join('');
}

function shapeOf(schema: z.ZodType): Shape {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  describeFields(shape);
  return shape;
}

function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (shape.anyOf) return [...new Set(shape.anyOf.map(typeOf))].join(' | ');
  if (shape.type === 'array') return `${shape.items ? typeOf(shape.items) : 'any'}[]`;
  const limit = shape.maxLength === undefined ? '' : `, at most ${shape.maxLength} characters`;
  return `${Array.isArray(shape.type) ? shape.type.join(' | ') : (shape.type ?? 'any')}${limit}`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** Text with code between backquotes. */
const marked = (text: string): string => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');

const idOf = (topic: string): string => topic.toLowerCase().replaceAll(' ', '-');

const style = `:root{color-scheme:light dark;--text:#222;--back:#fff;--side:#f5f5f2;--code:#f0f0ea;--line:#ddd;--verb:#00734a;--link:#0b57a4}
@media (prefers-color-scheme:dark){:root{--text:#e4e4e0;--back:#17181a;--side:#1f2124;--code:#2a2d31;--line:#3a3d42;--verb:#4cc38a;--link:#8ab8f0}}
body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:20rem minmax(0,1fr);color:var(--text);background:var(--back)}
nav{height:100vh;overflow:auto;position:sticky;top:0;background:var(--side);padding:0 1rem;font-size:13px;box-sizing:border-box}
nav ul{list-style:none;padding:0 0 0 1rem;margin:0}nav a{color:inherit;text-decoration:none;overflow-wrap:anywhere}nav a:hover{text-decoration:underline}
summary{font-size:15px;font-weight:600;padding:.35rem 0;cursor:pointer}main{padding:0 2rem 4rem;max-width:60rem;min-width:0;box-sizing:border-box}
main a{color:var(--link)}section{border-top:1px solid var(--line)}section:target{outline:2px solid var(--link);outline-offset:.4rem}
h1,h2,h3{line-height:1.25;overflow-wrap:anywhere}.wide{overflow-x:auto}table{border-collapse:collapse}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top;border-bottom:1px solid var(--line)}
pre{background:var(--code);padding:.5rem;overflow-x:auto}code{background:var(--code);padding:0 .25em;border-radius:3px;overflow-wrap:anywhere}b{color:var(--verb)}
@media (max-width:50rem){body{display:block}nav{position:static;height:auto;max-height:45vh;padding:.5rem 1rem}main{padding:0 1rem 3rem}}`;
