import { expect, test } from 'vitest';
import released from '../released-requests.json' with { type: 'json' };
import { operations } from './operations/index.ts';

const known: Readonly<Record<string, { required: string[]; defaults: Record<string, unknown> }>> = released;

test('a released parameter keeps its default, and a new one has none, because gateways of the previous release send no other', () => {
  for (const { name, params } of operations) {
    const { required, defaults } = known[name] ?? { required: Object.keys(params), defaults: {} };
    const omittable = Object.entries(params).filter(([key]) => !required.includes(key));
    expect(omittable.filter(([, param]) => param.required).map(([key]) => `${name}: ${key}`)).toEqual([]);
    const now = omittable.map(([key, { schema }]) => [key, schema.parse(undefined)]);
    const before = omittable.map(([key]) => [key, defaults[key]]);
    expect({ [name]: Object.fromEntries(now) }).toEqual({ [name]: Object.fromEntries(before) });
  }
});
