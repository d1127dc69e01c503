import { z } from 'zod';
import { id } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, json } from '../model/param.ts';

export const channelTopicOperations = {
  /** Called by channels: a channel with named topics cannot be restricted to the empty topic. */
  hasNamedTopics: operation({
    name: 'has-named-topics',
    service: 'messaging',
    caller: 'internal',
    callers: ['channels'],
    summary: 'Whether messages of a channel stand in a topic with a name. Bus only.',
    params: { channel_id: json(id) },
    result: z.object({
      has_named_topics: bool,
      /** The answer includes all changes up to this number of the log, and maybe later ones. The previous release omits it. */
      through: z.int().optional(),
    }),
    isReadOnly: true,
  }),
};
