import { errorStatus, featureLevel, type Operation, operations, type Param } from '@natter/contracts';
import { z } from 'zod';

interface Shape {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  items?: Shape;
  default?: unknown;
  properties?: Record<string, Shape>;
  description?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** The reference for people, from the same contract as `/openapi.json`. One page, no scripts, nothing loaded from elsewhere. */
export function docsPage(): string {
  const routed = operations.filter((operation) => operation.http !== undefined);
  const services = [...new Set(routed.map((operation) => operation.service))];
  const sections = services.map((service) => {
    const own = routed.filter((operation) => operation.service === service);
    return `<h2 id="${service}">${service}</h2>${own.map(operationPart).join('')}`;
  });
  const index = services.map((service) => {
    const links = routed
      .filter((operation) => operation.service === service)
      .map(({ name, http }) => `<li><a href="#${name}"><b>${http?.method}</b> ${escaped(http?.path ?? '')}</a></li>`);
    return `<h3>${service}</h3><ul>${links.join('')}</ul>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Natter HTTP API</title><style>${style}</style><body><nav>${index.join('')}</nav><main><h1>Natter HTTP API</h1>
<p>Feature level ${featureLevel}. Paths are under <code>/api/v1</code>; parameters are form fields in the body, or in the query.
Authentication is HTTP Basic with an email address and an API key. As data: <a href="/openapi.json">OpenAPI</a>,
<a href="/asyncapi.json">AsyncAPI</a> of the events.</p>${sections.join('')}</main></body></html>`;
}

function operationPart({ name, http, summary, params, result, errors, events, caller }: Operation): string {
  const rows = Object.entries(params).map(([key, param]) => parameterRow(key, param, http?.path ?? ''));
  const facts = [
    caller === 'anyone' ? 'No authentication.' : caller === 'spectator' ? 'Also for spectators.' : '',
    errors.length > 0
      ? `Errors: ${errors.map((code) => `<code>${code}</code> (${errorStatus[code]})`).join(', ')}.`
      : '',
    events.length > 0 ? `Events: ${events.map((type) => `<code>${type}</code>`).join(', ')}.` : '',
  ];
  const answer = shapeOf(result).properties ?? {};
  const fields = Object.entries(answer).map(
    ([key, shape]) => `<li><code>${escaped(key)}</code> ${escaped(typeOf(shape))}</li>`,
  );
  return `<section id="${name}"><h3><b>${http?.method}</b> ${escaped(http?.path ?? '')}</h3><p>${escaped(summary)} ${facts.join(' ')}</p>
${rows.length > 0 ? `<table><tr><th>Parameter<th>Type<th>Required<th>Default</tr>${rows.join('')}</table>` : ''}
${fields.length > 0 ? `<p>Answer:</p><ul>${fields.join('')}</ul>` : ''}</section>`;
}

function parameterRow(key: string, param: Param, path: string): string {
  const shape = shapeOf(param.schema);
  const names = [key, ...param.aliases].map((name) => `<code>${escaped(name)}</code>`).join(' or ');
  const isRequired = param.required || path.includes(`{${key}}`);
  const initial = shape.default === undefined ? '' : `<code>${escaped(JSON.stringify(shape.default))}</code>`;
  return `<tr><td>${names}<td>${escaped(typeOf(shape))}<td>${isRequired ? 'yes' : 'no'}<td>${initial}</tr>`;
}

const shapeOf = (schema: z.ZodType): Shape => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;

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

const style = `body{font:15px/1.5 system-ui;margin:0;display:grid;grid-template-columns:20rem 1fr;color:#222}
nav{height:100vh;overflow:auto;position:sticky;top:0;background:#f5f5f2;padding:0 1rem;font-size:12px}nav ul{list-style:none;padding:0}
nav a{color:inherit;text-decoration:none}main{padding:0 2rem;max-width:60rem;min-width:0}section{border-top:1px solid #ddd}
table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top;border-bottom:1px solid #eee}
code{background:#f2f2ee;padding:0 .2em}b{color:#0a6}`;
