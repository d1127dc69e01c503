import { type BodyOf, idSet, type RequestMeta } from '@natter/contracts';
import { sql, VersionsChanged, type Work } from '@natter/database';
import { type Background, type RealmPolicies, realmVersions } from '@natter/service-kit';
import { z } from 'zod';
import { channelVersions } from '../model/channel-access.ts';
import type { ChannelCache, PostingRules } from '../model/channel-cache.ts';
import { audienceOf } from '../model/message-audience.ts';
import { hashOf } from '../model/preview-job.ts';
import { flagsOfReceivers } from '../model/readers.ts';
import { endJob, type PreviewJob } from './jobs.ts';

export interface Sources {
  background: Background;
  channels: ChannelCache;
  policies: RealmPolicies;
}

const messageRow = z.object({
  channel_id: z.number().nullable(),
  recipient_ids: z.array(z.number()).nullable(),
  content: z.string(),
  rendered_content: z.string(),
  is_same: z.boolean(),
  now: z.number(),
});
type Found = z.infer<typeof messageRow>;

const maxAttempts = 4;

/**
 * Appends the previews to the message and announces it, once: the transaction ends the job. Nothing is appended if the
 * message was edited or deleted meanwhile, or if the realm wants no previews any more.
 */
export async function addPreviews(
  { background, channels, policies }: Sources,
  job: PreviewJob,
  channelId: number | null,
  html: string,
): Promise<void> {
  const meta: RequestMeta = { requestId: `preview-${job.message_id}`, realmId: job.realm_id, client: 'Internal' };
  let place = channelId;
  for (let attempt = 1; ; attempt++) {
    const isFresh = attempt > 1;
    const policy = await policies.get(meta, isFresh);
    const channel = place === null ? undefined : await channels.get(place, meta, isFresh);
    try {
      const movedTo = await background(job.realm_id, async (work) => {
        const message = await lockMessage(work, job);
        if (message && message.channel_id !== place) return message.channel_id;
        // Another worker that had the job has ended it.
        if ((await endJob(work, job)) === 0) return place;
        if (!message?.is_same || !policy.settings.inline_url_embed_preview) return place;
        work.expectVersions({ ...realmVersions(policy), ...(channel ? channelVersions(channel) : {}) });
        await append(work, job.message_id, { message, channel, html });
        return place;
      });
      if (movedTo === place) return;
      place = movedTo;
    } catch (error) {
      if (!(error instanceof VersionsChanged) || attempt === maxAttempts) throw error;
    }
  }
}

/** Before the job, in the order of edits. */
const lockMessage = (work: Work, job: PreviewJob): Promise<Found | undefined> =>
  work.maybeOne(sql.type(messageRow)`
    SELECT channel_id, recipient_ids, content, rendered_content, floor(extract(epoch FROM clock_timestamp()))::float8 AS now,
      ${hashOf(sql.fragment`content`)} = decode(${job.content_hash}, 'hex') AS is_same
    FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${job.message_id} FOR UPDATE`);

async function append(
  work: Work,
  messageId: number,
  { message, channel, html }: { message: Found; channel: PostingRules | undefined; html: string },
): Promise<void> {
  const rendered = message.rendered_content + html;
  await work.run(sql.unsafe`
    UPDATE messaging.message SET rendered_content = ${rendered} WHERE realm_id = ${work.realmId} AND id = ${messageId}`);
  const { recipient_ids } = message;
  const audience = await audienceOf(work, channel ? { channel, recipient_ids } : { recipient_ids }, [messageId]);
  const flags = await flagsOfReceivers(work, work.realmId, messageId);
  const body: BodyOf<'update_message'> = {
    user_id: null,
    rendering_only: true,
    message_id: messageId,
    message_ids: [messageId],
    // For users who did not receive it.
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
