import { type BodyOf, badRequest, channelOperations, ownChange } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { to } from '../model/audience.ts';
import { formsOf } from '../model/channel-events.ts';
import { checkedColor } from '../model/colors.ts';
import { type Decision, deciding, type Service } from '../model/deciding.ts';
import { type Personal, personalColumns, personalRow } from '../model/personal.ts';

interface Setting {
  stream_id: number;
  property: string;
  value: boolean | string;
}

export function ownSettingsHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.updateSubscriptions, (context, params) =>
      deciding(service, context, (decision) => change(decision, params.subscription_data)),
    ),
    handleWrite(channelOperations.updateSubscription, (context, params) =>
      deciding(service, context, (decision) => change(decision, [params])),
    ),
  ];
}

const ownRow = personalRow.extend({ channel_id: z.number(), is_archived: z.boolean() });

/**
 * Changes the caller's own settings of channels, including archived ones: all of them, or none if one is invalid. Of
 * several values of one setting the last counts.
 */
async function change({ work, actor }: Decision, settings: readonly Setting[]): Promise<Record<string, never>> {
  const given = settings.map(checkedSetting);
  const checked = [...new Map(given.map((each) => [`${each.stream_id} ${each.property}`, each])).values()];
  const ids = sql.array(
    checked.map(({ stream_id }) => stream_id),
    'int4',
  );
  const rows = await work.any(sql.type(ownRow)`
    SELECT s.channel_id, c.is_archived, ${personalColumns} FROM channels.subscription s JOIN channels.channel c ON c.id = s.channel_id
    WHERE s.realm_id = ${work.realmId} AND s.user_id = ${actor.userId} AND s.is_active AND s.channel_id = ANY(${ids})
    ORDER BY s.channel_id FOR UPDATE OF s`);
  const byId = new Map(rows.map((row) => [row.channel_id, row]));
  const touched = new Set<z.infer<typeof ownRow>>();
  for (const { stream_id, property, value } of checked) {
    const row = byId.get(stream_id);
    if (!row) throw badRequest(`Not subscribed to channel ID ${stream_id}`);
    if (row[property] === value) continue;
    Object.assign(row, { [property]: value });
    touched.add(row);
    const emit = (body: BodyOf<'subscription/update'>): void =>
      void work.emit({ type: 'subscription', op: 'update', body, audience: to([actor.userId]), ...formsOf(row) });
    emit(ownChange(stream_id, property, value));
    if (property !== 'is_muted') continue;
    emit(ownChange(stream_id, 'in_home_view', !value));
    // The next send of the user to the channel must use the new value.
    work.bump(`channel:${stream_id}`);
  }
  await store(work, actor.userId, [...touched]);
  return {};
}

async function store(work: Work, userId: number, rows: readonly z.infer<typeof ownRow>[]): Promise<void> {
  if (rows.length === 0) return;
  await work.run(sql.unsafe`
    UPDATE channels.subscription s SET color = r.color, is_muted = r.is_muted, pin_to_top = r.pin_to_top,
      desktop_notifications = r.desktop_notifications, email_notifications = r.email_notifications,
      push_notifications = r.push_notifications, audible_notifications = r.audible_notifications,
      wildcard_mentions_notify = r.wildcard_mentions_notify
    FROM jsonb_populate_recordset(NULL::channels.subscription, ${JSON.stringify(rows)}::jsonb) r
    WHERE s.channel_id = r.channel_id AND s.user_id = ${userId}`);
}

const booleans = [
  'is_muted',
  'pin_to_top',
  'desktop_notifications',
  'email_notifications',
  'push_notifications',
  'audible_notifications',
  'wildcard_mentions_notify',
] as const satisfies (keyof Personal)[];

function checkedSetting({ stream_id, property, value }: Setting): {
  stream_id: number;
  property: keyof Personal;
  value: boolean | string;
} {
  if (property === 'color') {
    if (typeof value !== 'string') throw badRequest('color is not a string');
    return { stream_id, property, value: checkedColor(value) };
  }
  const isInverse = property === 'in_home_view';
  const changed = isInverse ? 'is_muted' : booleans.find((name) => name === property);
  if (changed === undefined) throw badRequest(`Unknown subscription property: ${property}`);
  if (typeof value !== 'boolean') throw badRequest(`${property} is not a boolean`);
  return { stream_id, property: changed, value: isInverse ? !value : value };
}
