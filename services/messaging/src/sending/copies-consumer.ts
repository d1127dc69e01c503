import { idsOf, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { headOf } from './alert-head.ts';

/** Keeps what rendering and mentioning need of others: groups, alert words, linkifiers. */
export function sendingCopiesConsumer(owner: Owner): void {
  owner.consume({
    name: 'sending-copies',
    types: ['user_group', 'alert_words', 'realm_linkifiers'],
    handle: async (work, { event }) => {
      if (event.type === 'alert_words') return alertWordsChanged(work, event);
      if (event.type === 'realm_linkifiers') return linkifiersChanged(work, event);
      return groupChanged(work, event);
    },
  });
}

async function alertWordsChanged(work: Work, { audience, body }: LogEvent): Promise<void> {
  if (audience === 'realm') return;
  for (const userId of idsOf(audience.users)) {
    await work.run(
      sql.unsafe`DELETE FROM messaging.alert_word WHERE realm_id = ${work.realmId} AND user_id = ${userId}`,
    );
    const words = [...new Set((body.alert_words as string[]).map((word) => word.toLowerCase()))];
    await work.run(sql.unsafe`
      INSERT INTO messaging.alert_word (realm_id, user_id, word, head)
      SELECT ${work.realmId}, ${userId}, w.word, w.head FROM ${sql.unnest(
        words.map((word) => [word, headOf(word)]),
        ['text', 'text'],
      )} AS w (word, head)`);
  }
}

async function linkifiersChanged(work: Work, { body }: LogEvent): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM messaging.linkifier WHERE realm_id = ${work.realmId}`);
  const all = body.realm_linkifiers as { id: number; pattern: string; url_template: string }[];
  for (const [ordinal, { id, pattern, url_template }] of all.entries())
    await work.run(sql.unsafe`
      INSERT INTO messaging.linkifier (realm_id, ordinal, linkifier_id, pattern, url_template)
      VALUES (${work.realmId}, ${ordinal}, ${id}, ${pattern}, ${url_template})`);
}

interface GroupBody {
  id: number;
  name: string;
  members: number[];
  direct_subgroup_ids: number[];
  can_mention_group: unknown;
  deactivated?: boolean;
}

async function groupChanged(work: Work, { op, body }: LogEvent): Promise<void> {
  if (op === 'add') return groupAdded(work, body.group as GroupBody);
  const groupId = Number(body.group_id);
  const where = sql.fragment`realm_id = ${work.realmId} AND group_id = ${groupId}`;
  const ids = (list: unknown) => sql.array(list as number[], 'int4');
  if (op === 'update') {
    const { name, deactivated, can_mention_group } = body.data as Partial<GroupBody>;
    if (name !== undefined) await work.run(sql.unsafe`UPDATE messaging.user_group SET name = ${name} WHERE ${where}`);
    if (deactivated !== undefined)
      await work.run(sql.unsafe`UPDATE messaging.user_group SET is_deactivated = ${deactivated} WHERE ${where}`);
    if (can_mention_group !== undefined)
      await work.run(
        sql.unsafe`UPDATE messaging.user_group SET can_mention = ${JSON.stringify(can_mention_group)} WHERE ${where}`,
      );
  }
  if (op === 'remove') await work.run(sql.unsafe`UPDATE messaging.user_group SET is_deactivated = true WHERE ${where}`);
  if (op === 'add_members')
    await work.run(sql.unsafe`
      INSERT INTO messaging.group_member (realm_id, group_id, user_id) SELECT ${work.realmId}, ${groupId}, u FROM unnest(${ids(body.user_ids)}) u ON CONFLICT DO NOTHING`);
  if (op === 'remove_members')
    await work.run(
      sql.unsafe`DELETE FROM messaging.group_member WHERE ${where} AND user_id = ANY(${ids(body.user_ids)})`,
    );
  if (op === 'add_subgroups')
    await work.run(sql.unsafe`
      INSERT INTO messaging.group_subgroup (realm_id, group_id, subgroup_id) SELECT ${work.realmId}, ${groupId}, g FROM unnest(${ids(body.direct_subgroup_ids)}) g ON CONFLICT DO NOTHING`);
  if (op === 'remove_subgroups')
    await work.run(
      sql.unsafe`DELETE FROM messaging.group_subgroup WHERE ${where} AND subgroup_id = ANY(${ids(body.direct_subgroup_ids)})`,
    );
}

async function groupAdded(work: Work, group: GroupBody): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.user_group (realm_id, group_id, name, is_deactivated, can_mention)
    VALUES (${work.realmId}, ${group.id}, ${group.name}, ${group.deactivated === true}, ${JSON.stringify(group.can_mention_group)})
    ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name, is_deactivated = excluded.is_deactivated, can_mention = excluded.can_mention`);
  await work.run(sql.unsafe`
    INSERT INTO messaging.group_member (realm_id, group_id, user_id)
    SELECT ${work.realmId}, ${group.id}, u FROM unnest(${sql.array(group.members, 'int4')}) u ON CONFLICT DO NOTHING`);
  await work.run(sql.unsafe`
    INSERT INTO messaging.group_subgroup (realm_id, group_id, subgroup_id)
    SELECT ${work.realmId}, ${group.id}, g FROM unnest(${sql.array(group.direct_subgroup_ids, 'int4')}) g ON CONFLICT DO NOTHING`);
}
