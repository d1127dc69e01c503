import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer, Client } from './client.ts';
import type { Json } from './json.ts';

/** An operation as `/openapi.json` of a running system describes it. */
export interface DocumentedOperation {
  /** Method and path; what stands outside the API is written with a second slash. */
  route: string;
  /** Parameters of the path, of the query and of the body, as its example request has them. */
  example: Record<string, Json>;
  /** Headers of the example request, and the type of a body that is no form. */
  headers: Record<string, string>;
  /** The first difference between an answer and the description of the operation; undefined if there is none. */
  problemOf(answer: Answer): string | undefined;
}

export async function documentedOperations(client: Client): Promise<DocumentedOperation[]> {
  const { body: document } = await client.get('//openapi.json');
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  return Object.entries<Record<string, Json>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${operation.servers ? '/' : ''}${path}`,
      example: { ...exampleOfParameters(operation.parameters), ...exampleOfBody(operation.requestBody) },
      headers: exampleHeaders(operation),
      problemOf: (answer) => problemOf(ajv, `openapi#/paths/${pointer(path)}/${method}/responses`, document, answer),
    })),
  );
}

const fileType = 'application/offset+octet-stream';

function exampleHeaders({ parameters, requestBody }: Json): Record<string, string> {
  const given = parameters.filter((one: Json) => one.in === 'header' && one.example !== undefined);
  return {
    ...Object.fromEntries(given.map(({ name, example }: Json) => [name, String(example)])),
    ...(requestBody?.content[fileType] ? { 'content-type': fileType } : {}),
  };
}

const exampleOfParameters = (parameters: Json[]): Record<string, Json> =>
  Object.fromEntries(
    parameters
      .filter((one) => one.in !== 'header')
      .map(({ name, example, content }) => [name, example ?? content?.['application/json']?.example])
      .filter(([name, example]) => name !== undefined && example !== undefined),
  );

function exampleOfBody(body: Json): Record<string, Json> {
  const [form] = Object.values<Json>(body?.content ?? {});
  if (form === undefined || body.content[fileType]) return {};
  if (form.example !== undefined) return form?.example ?? {};
  const examples = Object.entries<Json>(form.schema.properties).map(([name, { examples }]) => [name, examples?.[0]]);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

const pointer = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

function problemOf(ajv: Ajv2020, responses: string, document: Json, answer: Answer): string | undefined {
  const at = responses.slice('openapi#/'.length).split('/');
  const listed = at.reduce((found, part) => found[decodeURIComponent(part).replaceAll('~1', '/')], document);
  let described = listed[answer.status];
  if (described === undefined) return `the status ${answer.status} is not described: ${JSON.stringify(answer.body)}`;
  let where = `${responses}/${answer.status}`;
  if (described.$ref !== undefined) {
    where = `openapi${described.$ref}`;
    described = document.components.responses[described.$ref.split('/').at(-1)];
  }
  const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
  const { content } = described;
  if (content === undefined || content['*/*'] !== undefined) return undefined;
  if (content[type] === undefined) return `the type ${type} of status ${answer.status} is not described`;
  const validate: ValidateFunction | undefined = ajv.getSchema(`${where}/content/${pointer(type)}/schema`);
  if (!validate) throw new Error(`${where} has no schema`);
  if (validate(answer.body)) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.message}: ${JSON.stringify(error?.params)} in ${JSON.stringify(answer.body).slice(0, 600)}`;
}
