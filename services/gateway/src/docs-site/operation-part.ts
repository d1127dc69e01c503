import { isDeprecated, meaningOf, type Operation, type Param, whoMayCall } from '@natter/contracts';
import { errorResponses, responseComponents, successResponses } from '../api-docs/open-api-responses.ts';
import { codeBlock, escaped, marked } from './html.ts';
import { samplesOf } from './samples.ts';
import { fieldList, type Shape, shapeOf, typeOf } from './shape.ts';

interface Response {
  $ref?: string;
  description?: string;
  content?: Record<string, { example?: unknown }>;
}
const shared = responseComponents().responses as Record<string, Response>;

/** The part of a page that describes an operation. `toEvent` gives the address of the description of an event. */
export function operationPart(operation: Operation, toEvent: (type: string) => string): string {
  const { name, http, summary, params, result, events } = operation;
  const { method = 'GET', path = '' } = http ?? {};
  const rows = Object.entries(params).map(([key, param]) => parameterRow(key, param, path));
  const links = events.map((type) => `<a href="${toEvent(type)}"><code>${type}</code></a>`);
  const answer = fieldList(shapeOf(result));
  const example = (successResponses(operation) as Record<string, Response>)[200]?.content?.['application/json']
    ?.example;
  // Requests of tus have bytes as their body, which forms do not send.
  const canTry = operation.protocol === undefined ? ' data-can-try' : '';
  return `<section id="${name}" data-method="${method}" data-path="${escaped(path)}"${canTry}>
<h2><a href="#${name}">${escaped(summary.replace(/\.$/, ''))}</a></h2>
<p class="route"><b>${method}</b> <code>/api/v1${escaped(path)}</code>${isDeprecated(summary) ? ' <em>deprecated</em>' : ''}</p>
<p>${escaped(whoMayCall(operation))}${links.length > 0 ? ` Events: ${links.join(', ')}.` : ''}</p>
${rows.length > 0 ? parameterTable(rows) : '<p>It has no parameters.</p>'}
<div class="samples">${samplesOf(operation).map(samplePart).join('')}</div>
<h3>Answer</h3>
${answer === '' ? '<p>No further fields.</p>' : answer}
${example === undefined ? '' : codeBlock(JSON.stringify(example, null, 2))}
<details><summary>Errors</summary><dl>${errorList(operation)}</dl></details></section>`;
}

const samplePart = ({ language, code }: { language: string; code: string }): string =>
  `<div data-language="${language}"><p>${language}</p>${codeBlock(code)}</div>`;

const parameterTable = (rows: string[]): string =>
  `<h3>Parameters</h3><div class="wide" tabindex="0"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;

/** The page's script makes a form of the attributes. */
function parameterRow(key: string, param: Param, path: string): string {
  const shape = shapeOf(param.schema);
  const isInPath = path.includes(`{${key}}`);
  const isRequired = param.required || isInPath;
  const place = isInPath ? 'path' : param.header === undefined ? 'field' : 'header';
  const kind = param.encoding === 'file' || key === 'file' ? 'file' : kindOf(shape);
  const names = [key, ...param.aliases].map((name) => `<code>${escaped(name)}</code>`).join(' or ');
  const initial =
    shape.default === undefined ? '' : ` By default <code>${escaped(JSON.stringify(shape.default))}</code>.`;
  return `<tr data-name="${escaped(key)}" data-in="${place}" data-kind="${kind}"${isRequired ? ' data-required' : ''}><td>${names}${isRequired ? ' <strong>required</strong>' : ''}</td><td>${escaped(typeOf(shape))}</td><td>${marked(shape.description ?? meaningOf(key) ?? '')}${initial}${fieldList(shape)}</td></tr>`;
}

const kindOf = ({ type, anyOf, oneOf }: Shape): string =>
  type === 'boolean' ? 'boolean' : type === 'array' || type === 'object' || anyOf || oneOf ? 'json' : 'text';

function errorList(operation: Operation): string {
  return Object.entries(errorResponses(operation) as Record<string, Response>)
    .map(([status, response]) => {
      const { description = '' } = response.$ref ? (shared[response.$ref.split('/').at(-1) ?? ''] ?? {}) : response;
      return `<dt>${status}</dt><dd>${marked(description)}</dd>`;
    })
    .join('');
}
