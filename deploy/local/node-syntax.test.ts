import { expect, test } from 'vitest';
import { nodeSyntaxFaults } from './node-syntax.ts';

test('lint fails on a source that Node cannot run', () => {
  const sources = new Map([
    ['services/users/src/good.ts', 'for (const one of [1]) console.log(one as number);'],
    ['services/users/src/loop.ts', 'for (const of of [1]) console.log(of);'],
    ['services/users/src/enum.ts', 'enum Role { owner }'],
  ]);
  expect(nodeSyntaxFaults(sources).map((fault) => fault.split(':')[0])).toEqual([
    'services/users/src/loop.ts',
    'services/users/src/enum.ts',
  ]);
});
