import { idsOf, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { headOf } from './alert-head.ts';

/** Maintains the projections for rendering and mentions: groups, alert words, linkifiers. */
export function sendingProjectionsConsumer(owner: Owner): void {
  owner.consume({
    name: 'sending-copies',
    on: {
      alert_words: alertWordsChanged,
      realm_linkifiers: linkifiersChanged,
      'user_group/add': groupAdded,
      'user_group/update': groupUpdated,
      'user_group/remove': (work, { body }) => setDeactivated(work, body.group_id, true),
      'user_group/add_members': membersAdded,
      'user_group/remove_members': membersRemoved,
      'user_group/add_subgroups': subgroupsAdded,
      'user_group/remove_subgroups': subgroupsRemoved,
    },
  });
}

async function alertWordsChanged(work: Work, { audience, body }: LogEvent<'alert_words'>): Promise<void> {
  const words = [...new Set(body.alert_words.map((word) => word.toLowerCase()))];
  for (const userId of idsOf(audience.users)) {
    await work.run(sql.unsafe`
      DELETE FROM messaging.alert_word
      WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND word <> ALL(${sql.array(words, 'text')})`);
    await work.run(sql.unsafe`
      INSERT INTO messaging.alert_word (realm_id, user_id, word, head)
      SELECT ${work.realmId}, ${userId}, w.word, w.head FROM ${sql.unnest(
        words.map((word) => [word, headOf(word)]),
        ['text', 'text'],
      )} AS w (word, head) ON CONFLICT DO NOTHING`);
  }
}

async function linkifiersChanged(work: Work, { body }: LogEvent<'realm_linkifiers'>): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM messaging.linkifier WHERE realm_id = ${work.realmId}`);
  for (const [ordinal, { id, pattern, url_template }] of body.realm_linkifiers.entries())
    await work.run(sql.unsafe`
      INSERT INTO messaging.linkifier (realm_id, ordinal, linkifier_id, pattern, url_template)
      VALUES (${work.realmId}, ${ordinal}, ${id}, ${pattern}, ${url_template})`);
}

const whereGroup = (work: Work, groupId: number) => sql.fragment`realm_id = ${work.realmId} AND group_id = ${groupId}`;

async function groupUpdated(work: Work, { body, note }: LogEvent<'user_group/update'>): Promise<void> {
  const { group_id, data } = body;
  const { name, deactivated } = data;
  const can_mention_group = note?.can_mention_group ?? data.can_mention_group;
  const where = whereGroup(work, group_id);
  if (name !== undefined) await work.run(sql.unsafe`UPDATE messaging.user_group SET name = ${name} WHERE ${where}`);
  if (deactivated !== undefined) await setDeactivated(work, group_id, deactivated);
  if (can_mention_group !== undefined)
    await work.run(
      sql.unsafe`UPDATE messaging.user_group SET can_mention = ${JSON.stringify(can_mention_group)} WHERE ${where}`,
    );
}

async function setDeactivated(work: Work, groupId: number, is: boolean): Promise<void> {
  await work.run(sql.unsafe`UPDATE messaging.user_group SET is_deactivated = ${is} WHERE ${whereGroup(work, groupId)}`);
}

async function membersAdded(work: Work, { body }: LogEvent<'user_group/add_members'>): Promise<void> {
  await insertMembers(work, body.group_id, body.user_ids);
}

async function membersRemoved(work: Work, { body }: LogEvent<'user_group/remove_members'>): Promise<void> {
  const ids = sql.array([...body.user_ids], 'int4');
  await work.run(
    sql.unsafe`DELETE FROM messaging.group_member WHERE ${whereGroup(work, body.group_id)} AND user_id = ANY(${ids})`,
  );
}

async function subgroupsAdded(work: Work, { body }: LogEvent<'user_group/add_subgroups'>): Promise<void> {
  await insertSubgroups(work, body.group_id, body.direct_subgroup_ids);
}

async function subgroupsRemoved(work: Work, { body }: LogEvent<'user_group/remove_subgroups'>): Promise<void> {
  const ids = sql.array([...body.direct_subgroup_ids], 'int4');
  await work.run(
    sql.unsafe`DELETE FROM messaging.group_subgroup WHERE ${whereGroup(work, body.group_id)} AND subgroup_id = ANY(${ids})`,
  );
}

/**
 * For some clients a reactivated group is announced as a new one; the projection is then set to the announced state, except the
 * permission, which is announced without deactivated users.
 */
async function groupAdded(work: Work, { body: { group } }: LogEvent<'user_group/add'>): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.user_group (realm_id, group_id, name, is_deactivated, can_mention)
    VALUES (${work.realmId}, ${group.id}, ${group.name}, ${group.deactivated}, ${JSON.stringify(group.can_mention_group)})
    ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name, is_deactivated = excluded.is_deactivated`);
  await insertMembers(work, group.id, group.members);
  await insertSubgroups(work, group.id, group.direct_subgroup_ids);
}

async function insertMembers(work: Work, groupId: number, userIds: readonly number[]): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.group_member (realm_id, group_id, user_id)
    SELECT ${work.realmId}, ${groupId}, u FROM unnest(${sql.array([...userIds], 'int4')}) u ON CONFLICT DO NOTHING`);
}

async function insertSubgroups(work: Work, groupId: number, subgroupIds: readonly number[]): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.group_subgroup (realm_id, group_id, subgroup_id)
    SELECT ${work.realmId}, ${groupId}, g FROM unnest(${sql.array([...subgroupIds], 'int4')}) g ON CONFLICT DO NOTHING`);
}
