import { createHash } from 'node:crypto';
import { badRequest, channelOperations } from '@natter/contracts';
import { hasContentAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { reading, type Service } from '../model/deciding.ts';
import { knownChannel } from '../model/known-channel.ts';
import { isOwnBot } from '../model/principals.ts';
import { invalidChannelId } from '../model/refusals.ts';

/** The email address of a channel; it differs for each sender that messages are posted as. */
export function emailHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.getChannelEmail, (context, { stream_id, sender_id }) =>
      reading(service, context, async (database) => {
        const { actor, meta } = context;
        const channel = await knownChannel(database, actor, stream_id);
        if (!hasContentAccess(channel, actor, channel.is_subscribed)) throw invalidChannelId();
        const directory = await service.directories.read(database, actor.realmId);
        const sender = sender_id ?? actor.userId;
        const person = directory.people.get(sender);
        if (sender !== actor.userId && !isOwnBot(person, actor) && !isNotificationBot(person?.email))
          throw badRequest('Invalid sender ID');
        const token = createHash('sha256').update(`${channel.email_secret} ${sender}`).digest('hex').slice(0, 32);
        const slug = channel.name
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')
          .replaceAll(/^-|-$/g, '');
        const { hostname } = new URL((await service.policies.get(meta, context.attempt > 0)).url);
        return { email: `${slug === '' ? '' : `${slug}.`}${token}@${hostname}` };
      }),
    ),
  ];
}

const isNotificationBot = (email: string | undefined): boolean => email?.startsWith('notification-bot@') ?? false;
