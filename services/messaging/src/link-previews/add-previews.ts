import { type BodyOf, idSet, type RequestMeta } from '@natter/contracts';
import { type Database, sql, VersionsChanged, type Work } from '@natter/database';
import { type RealmPolicies, realmVersions } from '@natter/realm-policy';
import type { Background, Owner } from '@natter/service-kit';
import { z } from 'zod';
import { channelVersions } from '../model/channel-access.ts';
import type { ChannelCache, PostingRules } from '../model/channel-cache.ts';
import { audienceOf } from '../model/message-audience.ts';
import { hashOf } from '../model/preview-job.ts';
import { flagsOfReceivers } from '../model/readers.ts';
import { endJob, type PreviewJob } from './jobs.ts';

export interface Sources {
  database: Database;
  background: Background;
  catchUp: Owner['catchUp'];
  channels: ChannelCache;
  policies: RealmPolicies;
}

const messageRow = z.object({
  id: z.number(),
  sent_channel_id: z.number().nullable(),
  channel_id: z.number().nullable(),
  recipient_ids: z.array(z.number()).nullable(),
  content: z.string(),
  rendered_content: z.string(),
  is_same: z.boolean(),
  now: z.number(),
});
type Found = z.infer<typeof messageRow>;

const maxAttempts = 4;

const placeRow = z.object({ channel_id: z.number().nullable() });

/** The channel of a job's message, null for direct messages; undefined if it was deleted or its text was changed. */
export const placeOf = (database: Database, job: PreviewJob): Promise<z.infer<typeof placeRow> | undefined> =>
  database.maybeOne(sql.type(placeRow)`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${job.realm_id} AND id = ${job.message_id}
      AND ${hashOf(sql.fragment`content`)} = decode(${job.content_hash}, 'hex')`);

/**
 * Appends the previews to the message and announces it, once: the transaction ends the job. Nothing is appended if the
 * message was edited or deleted meanwhile, or if the realm wants no previews any more.
 */
export async function addPreviews(
  { database, background, catchUp, channels, policies }: Sources,
  job: PreviewJob,
  html: string,
): Promise<void> {
  const meta: RequestMeta = { requestId: `preview-${job.message_id}`, realmId: job.realm_id, client: 'Internal' };
  for (let attempt = 1; ; attempt++) {
    const isFresh = attempt > 1;
    if (isFresh) await catchUp(job.realm_id);
    const policy = await policies.get(meta, isFresh);
    const channelId = (await placeOf(database, job))?.channel_id ?? null;
    const channel = channelId === null ? undefined : await channels.get(channelId, meta, isFresh);
    try {
      return await background(job.realm_id, async (work) => {
        const message = await lockMessage(work, job);
        // Another worker that had the job may have ended it.
        const isMine = (await endJob(work, job)) > 0;
        if (!isMine || !message?.is_same || !policy.settings.inline_url_embed_preview) return;
        if (message.channel_id !== channelId) throw new VersionsChanged(`message ${job.message_id}`, 'row');
        work.expectVersions({ ...realmVersions(policy), ...(channel ? channelVersions(channel) : {}) });
        await append(work, { message, channel, html });
      });
    } catch (error) {
      if (!(error instanceof VersionsChanged) || attempt === maxAttempts) throw error;
    }
  }
}

/** Locks the message of a job. Called before the job is locked, because edits lock in this order. */
const lockMessage = (work: Work, job: PreviewJob): Promise<Found | undefined> =>
  work.maybeOne(sql.type(messageRow)`
    SELECT id, sent_channel_id, channel_id, recipient_ids, content, rendered_content, floor(extract(epoch FROM clock_timestamp()))::float8 AS now,
      ${hashOf(sql.fragment`content`)} = decode(${job.content_hash}, 'hex') AS is_same
    FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${job.message_id} FOR UPDATE`);

async function append(
  work: Work,
  { message, channel, html }: { message: Found; channel: PostingRules | undefined; html: string },
): Promise<void> {
  const rendered = message.rendered_content + html;
  await work.run(sql.unsafe`
    UPDATE messaging.message SET rendered_content = ${rendered} WHERE realm_id = ${work.realmId} AND id = ${message.id}`);
  const { recipient_ids } = message;
  const audience = await audienceOf(work, channel ? { channel, recipient_ids } : { recipient_ids }, [message.id]);
  const flags = await flagsOfReceivers(work, work.realmId, message);
  const body: BodyOf<'update_message'> = {
    user_id: null,
    rendering_only: true,
    message_id: message.id,
    message_ids: [message.id],
    // The flags for users without flags of their own, because they did not receive the message.
    flags: ['read'],
    edit_timestamp: message.now,
    ...(channel ? { stream_id: channel.channel_id, stream_name: channel.name } : {}),
    content: message.content,
    rendered_content: rendered,
  };
  work.emit({
    type: 'update_message',
    body,
    audience,
    variants: flags.map(({ flags, user_ids }) => ({ audience: { users: idSet(user_ids) }, patch: { flags } })),
  });
}
