/** Two changes at once: the second begins while the first waits for a lock. */
import type { Answer, Json, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';
import { channel, freshName, nameOf, openQuietRealm } from './setting.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openQuietRealm();
});

const statuses = (answers: Answer[]): number[] => answers.map(({ status }) => status);

test('of two equal changes of the channels of a default group at once, one is refused', async () => {
  const { owner } = realm;
  const [first, second] = [await nameOf(owner, await channel(owner)), await nameOf(owner, await channel(owner))];
  const group_name = freshName();
  await owner.ok('POST', '/default_stream_groups/create', { group_name, description: '', stream_names: [first] });
  const { realm_default_stream_groups } = await owner.ok('POST', '/register', {
    fetch_event_types: ['default_stream_groups'],
  });
  const { id } = realm_default_stream_groups.find(({ name }: Json) => name === group_name);
  for (const change of [
    { op: 'add', stream_names: [second] },
    { op: 'remove', stream_names: [first] },
  ]) {
    const request = () => owner.patch(`/default_stream_groups/${id}/streams`, change);
    const answers = await behindRows(
      { rows: 'channels.default_group WHERE realm_id = $1 AND id = $2 FOR UPDATE', values: [realm.id, id] },
      [request, request],
    );
    expect([change.op, ...statuses(answers).sort()]).toEqual([change.op, 200, 400]);
  }
});
