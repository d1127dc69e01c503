import type { LogEvent, PersonChange } from '@natter/contracts';
import type { ConsumerOptions, Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { peopleConsumer } from './people.ts';

type Changed = LogEvent<'realm_user/update'>;

test.each<[statements: number, PersonChange]>([
  [1, { user_id: 7, full_name: 'Ada' }],
  [1, { user_id: 7, is_active: false }],
  [1, { user_id: 7, new_email: 'ada@example.com' }],
  [1, { user_id: 7, avatar_url: '/a', avatar_url_medium: '/m', avatar_source: 'G', avatar_version: 2 }],
  [0, { user_id: 7, delivery_email: null }],
  [0, { user_id: 7, role: 600 }],
])('the projection of people runs %i statements for %j', async (statements, person) => {
  let on: ConsumerOptions['on'] = {};
  const consume = (given: ConsumerOptions) => {
    on = given.on;
  };
  peopleConsumer({ consume } as unknown as Owner);
  let count = 0;
  const work: Partial<Work> = { realmId: 1, run: async () => ++count };
  const event: Changed = { type: 'realm_user', op: 'update', body: { person }, audience: 'realm' };
  await on['realm_user/update']?.(work as Work, event, 1);
  expect(count).toBe(statements);
});
