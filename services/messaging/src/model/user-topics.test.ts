import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { expect, test } from 'vitest';
import { giveTopic } from './user-topics.ts';

/** A unit in which a statement writes this many rows; records the events. */
function writing(rows: number): { work: Work; events: LogEvent[] } {
  const events: LogEvent[] = [];
  const work: Partial<Work> = {
    realmId: 1,
    run: async () => rows,
    emit: (event) => events.push(event as LogEvent),
  };
  return { work: work as Work, events };
}

test.each([null, 2])('a preference that was %s is given unless the user changed it meanwhile', async (before) => {
  const given = { channelId: 5, topic: 'lunch', policy: 3, before };
  const unchanged = writing(1);
  await giveTopic(unchanged.work, 7, given);
  expect(unchanged.events.map(({ type }) => type)).toEqual(['user_topic']);
  const changed = writing(0);
  await expect(giveTopic(changed.work, 7, given)).rejects.toMatchObject({ name: 'VersionsChanged', of: 'row' });
  expect(changed.events).toEqual([]);
});
