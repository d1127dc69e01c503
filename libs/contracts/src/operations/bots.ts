import { z } from 'zod';
import { id, list, string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, int, json, text, textOrJson } from '../model/param.ts';
import { withheldKinds } from '../model/withheld.ts';
import { pictureBase64 } from './realm/uploaded-picture.ts';

export const botFetchTypes: readonly string[] = ['realm_bot'];

/** The numbers of the kinds of bots, as clients send and read them. */
export const botTypes = { generic: 1, incomingWebhook: 2, outgoingWebhook: 3, embedded: 4 } as const;

const stream = text(string(1_000).optional());
const file = text(pictureBase64.describe('A picture of the bot.').optional());
const pictureWeight = (params: { file?: string | undefined }): number => (params.file === undefined ? 0 : 2);
/** The added weight of a change of role: the user, or bot, sees other users, channels and addresses. */
export const roleWeight = (role: number | undefined): number => (role === undefined ? 0 : 20);
const settings = {
  default_sending_stream: stream,
  default_events_register_stream: stream,
  default_all_public_streams: json(bool.optional()),
};
const defaultsResult = {
  default_sending_stream: z.string().nullable(),
  default_events_register_stream: z.string().nullable(),
  default_all_public_streams: bool,
};

export const botSchema = z.object({
  user_id: int,
  full_name: z.string(),
  email: z.string(),
  bot_type: int,
  api_key: z.string(),
  avatar_url: z.string(),
  owner_id: int.nullable(),
  services: z.array(z.record(z.string(), z.unknown())),
  is_active: bool,
  ...defaultsResult,
});
export type Bot = z.infer<typeof botSchema>;

const errors = ['BAD_REQUEST'] as const;
const bot_id = json(id);
const owned = { bot_id };

export const botOperations = {
  getBots: operation({
    name: 'get-bots',
    service: 'users',
    http: { method: 'GET', path: '/bots' },
    caller: 'human',
    role: 'member',
    checksCredential: true,
    summary: 'The bots that the caller owns, with their API keys.',
    result: z.object({
      bots: z.array(
        z.object({
          username: z.string(),
          full_name: z.string(),
          api_key: z.string(),
          avatar_url: z.string(),
          ...defaultsResult,
        }),
      ),
    }),
    errors,
  }),
  createBot: operation({
    name: 'create-bot',
    service: 'users',
    http: { method: 'POST', path: '/bots' },
    caller: 'human',
    summary: 'Create a bot of the caller.',
    weight: 3,
    weigh: pictureWeight,
    params: {
      full_name: text(string(1_000)),
      short_name: text(string(1_000)),
      bot_type: json(id.default(1)),
      payload_url: textOrJson(string(1_000).optional()),
      interface_type: json(id.default(1)),
      file,
      ...settings,
    },
    formerParams: ({ full_name, short_name, bot_type, payload_url, ...others }) => [
      { full_name, short_name, bot_type, payload_url, config_data: {}, ...others },
    ],
    result: z.object({ user_id: int, api_key: z.string(), avatar_url: z.string(), ...defaultsResult }),
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm_user', 'realm_bot', 'user_group'],
  }),
  updateBot: operation({
    name: 'update-bot',
    service: 'users',
    http: { method: 'PATCH', path: '/bots/{bot_id}' },
    role: 'member',
    weight: 3,
    weigh: (params) => pictureWeight(params) + roleWeight(params.role),
    summary: "Change a bot's name, picture, role, owner or settings.",
    params: {
      bot_id,
      full_name: text(string(1_000).optional()),
      role: json(id.optional()),
      bot_owner_id: json(id.optional()),
      service_payload_url: textOrJson(string(1_000).optional()),
      service_interface: json(id.optional()),
      file,
      ...settings,
    },
    result: z.object({
      full_name: z.string(),
      avatar_url: z.string(),
      ...defaultsResult,
      service_interface: int.describe('The interface of an outgoing webhook bot: 1 generic, 2 Slack.').optional(),
      service_payload_url: z
        .string()
        .describe(
          'The address to which messages for an outgoing webhook bot are posted. Empty after a change of the owner, until an address is set.',
        )
        .optional(),
      bot_owner: z.string().describe('The email address of the new owner, if the owner was changed.').optional(),
    }),
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm_user', 'realm_bot', 'user_group', 'alert_words'],
  }),
  deactivateBot: operation({
    name: 'deactivate-bot',
    service: 'users',
    http: { method: 'DELETE', path: '/bots/{bot_id}' },
    weight: 3,
    summary: 'Deactivate a bot.',
    params: owned,
    errors,
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status', 'realm'],
  }),
  getBotApiKey: operation({
    name: 'get-bot-api-key',
    service: 'users',
    http: { method: 'GET', path: '/bots/{bot_id}/api_key' },
    caller: 'human',
    checksCredential: true,
    summary: "A bot's API key, for its owner and administrators.",
    params: owned,
    result: z.object({ api_key: z.string() }),
    errors,
  }),
  queueDefaults: operation({
    name: 'queue-defaults',
    service: 'users',
    caller: 'internal',
    callers: ['event-queue'],
    summary: 'What the queues of a bot follow unless it says otherwise. Bus only.',
    params: { user_id: json(id) },
    result: z.object({ default_events_register_stream: z.string().nullable(), default_all_public_streams: bool }),
    isReadOnly: true,
  }),
  reveal: operation({
    name: 'reveal',
    service: 'users',
    caller: 'internal',
    callers: ['gateway'],
    checksCredential: true,
    summary: 'The secrets that an event does not contain and the actor may see. Bus only.',
    /** `user_id` is for processes of the previous release. */
    params: { user_id: json(id), kind: text(z.enum(withheldKinds)), id: json(id), fields: json(list(string(50), 10)) },
    result: z.record(z.string(), z.unknown()),
    isReadOnly: true,
  }),
  getOutgoingWebhook: operation({
    name: 'get-outgoing-webhook',
    service: 'users',
    caller: 'internal',
    callers: ['scheduler'],
    summary:
      'Where and how an outgoing webhook bot is called. None if the bot or its owner is deactivated, or the bot has no address. Refused while the realm is deactivated. Bus only.',
    params: { user_id: json(id) },
    result: z.object({
      webhook: z
        .object({
          base_url: z.string(),
          interface: int,
          token: z.string(),
          email: z.string(),
          full_name: z.string(),
          owner_id: int.nullable(),
        })
        .nullable(),
    }),
    isReadOnly: true,
  }),
  regenerateBotApiKey: operation({
    name: 'regenerate-bot-api-key',
    service: 'users',
    http: { method: 'POST', path: '/bots/{bot_id}/api_key/regenerate' },
    caller: 'human',
    role: 'member',
    weight: 3,
    summary: 'End the API keys of a bot and make a new one.',
    params: owned,
    result: z.object({ api_key: z.string() }),
    errors,
    events: ['realm_bot'],
  }),
};
