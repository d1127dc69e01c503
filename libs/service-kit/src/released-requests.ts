/**
 * Prints the requests of this release, for the tests of the next one:
 * `npm run --silent ts libs/service-kit/src/released-requests.ts > libs/contracts/released-requests.json`
 */
import { exampleOf, exampleOfSchema, type Operation, operations, type Param } from '@natter/contracts';
import { z } from 'zod';
import { claimOf, isWrite, plainFingerprint } from './answer-once.ts';

type Given = Record<string, unknown>;

/** The parameters of an operation that differ from optional ones, and fingerprints of requests that may be repeated. */
interface Released {
  required: string[];
  defaults: Given;
  requests?: [Given, string][];
}

/** The fingerprint under which the answer of a request with these parameters is stored. */
export function fingerprintOf(operation: Operation, given: Given): string | undefined {
  const params = Object.fromEntries(
    Object.entries(operation.params)
      .map(([name, { schema }]): [string, unknown] => [name, schema.parse(given[name])])
      .filter(([, value]) => value !== undefined),
  );
  const envelope = { meta: { requestId: '', realmId: 1, client: '', idempotencyKey: 'k' }, actor: undefined, params };
  return claimOf(operation, envelope, undefined, plainFingerprint)?.fingerprint;
}

const defaultOf = ({ schema }: Param): unknown => schema.safeParse(undefined).data;

function releasedOf(operation: Operation): Released {
  const params = Object.entries(operation.params);
  const required = params.filter(([, param]) => param.required).map(([name]) => name);
  const defaults = Object.fromEntries(
    params.map(([name, param]) => [name, defaultOf(param)]).filter(([, value]) => value !== undefined),
  );
  const isRepeated = isWrite(operation) && !params.some(([, { encoding }]) => encoding === 'file');
  if (!isRepeated) return { required, defaults };
  const example = exampleOf(operation);
  const whole = Object.fromEntries(
    params.map(([name, param]) => [name, sampleOf(param, example[name])]).filter(([, value]) => value !== undefined),
  );
  // The first one shows the defaults, the second one the order.
  const forms = Object.keys(defaults).length > 0 ? [example, whole] : [whole];
  return { required, defaults, requests: forms.map((given) => [given, fingerprintOf(operation, given) ?? '']) };
}

function sampleOf({ schema }: Param, example: unknown): unknown {
  const made = exampleOfSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return [example, made, 'a', true, 1, ['a'], [1]].find((value) => value != null && schema.safeParse(value).success);
}

if (process.argv[1] === import.meta.filename) {
  const released = Object.fromEntries(operations.map((operation) => [operation.name, releasedOf(operation)]));
  process.stdout.write(JSON.stringify(released));
}
