import { sql, type Work } from '@natter/database';
import { queueNotice } from './notice.ts';
import type { NoticeText } from './notice-text.ts';

/** The minutes in which the owner is notified once of a kind of failure of a bot, however many there are. */
const everyMinutes = { webhook: 60, channel: 5 } as const;

export interface Failing {
  kind: keyof typeof everyMinutes;
  realmId: number;
  botId: number;
}

/** A future time does not count: it was stored before the clock of the database was set back. */
const isRecent = (kind: Failing['kind']) =>
  sql.fragment`n.told_at BETWEEN clock_timestamp() - make_interval(mins => ${everyMinutes[kind]}) AND clock_timestamp()`;

/** Whether the owner was not notified of such failures recently. */
export const mayNotify = ({ kind, realmId, botId }: Failing) =>
  sql.fragment`NOT EXISTS (SELECT FROM messaging.owner_notice n
    WHERE n.realm_id = ${realmId} AND n.bot_id = ${botId} AND n.kind = ${kind} AND ${isRecent(kind)})`;

/** Lets the notification bot write to the owner of a bot, unless it did recently about this kind of failure. */
export async function notifyOwner(
  work: Work,
  { kind, botId }: Omit<Failing, 'realmId'>,
  { ownerId, content }: { ownerId: number; content: NoticeText },
): Promise<void> {
  const isAllowed = await work.run(sql.unsafe`
    INSERT INTO messaging.owner_notice AS n (realm_id, bot_id, kind, told_at)
    VALUES (${work.realmId}, ${botId}, ${kind}, clock_timestamp())
    ON CONFLICT (realm_id, bot_id, kind) DO UPDATE SET told_at = excluded.told_at WHERE NOT (${isRecent(kind)})`);
  if (isAllowed === 0) return;
  await queueNotice(work, { from: 'Notification Bot', to: { userIds: [ownerId] }, content });
}
