import { type Actor, capabilityNames, eventQueueOperations, type ParamsOf, type RequestMeta } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import type { Authenticator, Credential } from '../authentication/authenticator.ts';
import { type Callers, type Exchange, shownBy } from '../authentication/caller.ts';
import type { AnswerMemory } from '../http/answer-memory.ts';
import { headerOf } from '../http/headers.ts';
import { type PollAnswer, type Polls, pollRequestOf } from '../queues/polls.ts';
import { streamEvents } from './event-stream.ts';
import { hangupOf } from './hangup.ts';

export type PollParams = ParamsOf<typeof eventQueueOperations.getEvents>;

interface PollCall extends Exchange {
  actor: Actor;
  credential: Credential;
  meta: RequestMeta;
  params: PollParams;
  ignored: readonly string[];
}

/** `GET /events`: a response, a stream of server-sent events, or a new queue. */
export async function answerPoll(
  {
    bus,
    polls,
    answers,
    authenticator,
    callers,
  }: { bus: Bus; polls: Polls; answers: AnswerMemory; authenticator: Authenticator; callers: Callers },
  call: PollCall,
): Promise<unknown> {
  const { actor, credential, meta, params, ignored, request, reply } = call;
  const isStream = request.headers.accept?.includes('text/event-stream') ?? false;
  const { queue_id, dont_block } = params;
  if (queue_id === undefined && dont_block) {
    // The request was admitted as a poll, but it counts as a register against the rate limit.
    await callers.countCall(eventQueueOperations.register, call, actor);
    return openQueue(bus, call);
  }
  const resumed = headerOf(request, 'last-event-id');
  const from =
    isStream && resumed !== undefined && /^-?\d{1,15}$/.test(resumed) ? Number(resumed) : params.last_event_id;
  const asked = pollRequestOf(queue_id, from);
  const hangup = hangupOf(reply.raw);
  const identify = () => authenticator.authenticate(credential, shownBy(call, meta), 'poll');
  const poller = { actor, meta, identify, hangup };
  if (isStream) {
    const hold = answers.hold(request, reply);
    const next = async (lastEventId: number, isFirst = false): Promise<PollAnswer> => {
      // The first one was counted when it was admitted. The others count, and wait, like the polls that they replace.
      if (!isFirst) await callers.countCall(eventQueueOperations.getEvents, call, actor);
      return polls.poll(poller, { ...asked, lastEventId, dontBlock: isFirst });
    };
    await streamEvents({ reply, hold, hangup }, asked.queueId, asked.lastEventId, next);
    return reply;
  }
  const { events } = await polls.poll(poller, { ...asked, dontBlock: dont_block });
  const rest = ignored.length > 0 ? `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}` : '';
  // Queues share the text of events.
  const body = `{"result":"success","msg":"","events":[${events.join(',')}],"queue_id":${JSON.stringify(queue_id)}${rest}}`;
  return reply.type('application/json; charset=utf-8').send(body);
}

/** A non-blocking poll without a queue gets a new one. */
async function openQueue(bus: Bus, { actor, meta, params, ignored }: PollCall): Promise<unknown> {
  const named = capabilityNames.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]] as const]));
  const { queue_id: _, last_event_id: __, dont_block, ...given } = params;
  const made = await bus.call(
    eventQueueOperations.register,
    {
      ...given,
      include_subscribers: 'false',
      presence_history_limit_days: undefined,
      client_capabilities: Object.fromEntries(named),
      fetch_event_types: [],
      pronouns_field_type_supported: undefined,
      user_client: undefined,
    },
    { actor, meta },
  );
  const { queue_id, last_event_id } = made;
  const rest = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
  return { result: 'success', msg: '', events: [], queue_id, last_event_id, ...rest };
}
