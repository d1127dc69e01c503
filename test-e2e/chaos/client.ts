import type { Answer, Credentials } from '../api.ts';

export interface Person extends Credentials {
  user_id: number;
}

/** The expected state of a message whose send was acknowledged. `content` is undefined if it was deleted. */
export interface Sent {
  by: number;
  content: string | undefined;
}

interface Mine {
  id: number;
  /** Undefined for a direct message. */
  topic: string | undefined;
  content: string;
  hasReaction: boolean;
  isStarred: boolean;
  isRead: boolean;
}

const topics = ['one', 'two', 'three'];
export const emojis = ['smile', 'heart', 'tada', 'rocket'];
type Ask = (who: Person, method: string, path: string, form?: Record<string, unknown>) => Promise<Answer | undefined>;

/**
 * Creates a client. The returned function sends its next request. The client changes only its own data, so that any
 * refusal is a fault.
 */
export function createClient(
  { who, other, name, emoji }: { who: Person; other: Person; name: string; emoji: string },
  ask: Ask,
): (sent: Map<number, Sent>) => Promise<unknown> {
  let mine: Mine[] = [];
  let count = 0;
  let draft: number | undefined;
  let group: number | undefined;
  let isIn = false;
  let isSubscribed = false;
  let isMuted = false;
  let scheduled: number | undefined;
  let snippet: number | undefined;
  let isAlerted = false;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

  async function send(sent: Map<number, Sent>): Promise<void> {
    const content = `${name} ${count++} at ${Date.now()}`;
    const topic = Math.random() < 0.7 ? pick(topics) : undefined;
    const to =
      topic === undefined
        ? { type: 'direct', to: [other.user_id] }
        : { type: 'channel', to: pick(['general', 'sandbox']), topic };
    const answer = await ask(who, 'POST', '/messages', { ...to, content });
    if (!answer) return;
    sent.set(answer.id, { by: who.user_id, content });
    mine = [
      ...mine.slice(-9),
      {
        id: answer.id,
        topic,
        content,
        hasReaction: false,
        isStarred: false,
        isRead: true,
      },
    ];
  }

  async function edit(sent: Map<number, Sent>, message: Mine): Promise<void> {
    const content = `${message.content} edited ${count++}`;
    const answer = await ask(who, 'PATCH', `/messages/${message.id}`, { content });
    if (!answer) return;
    message.content = content;
    const known = sent.get(message.id);
    if (known) known.content = content;
  }

  async function move(message: Mine): Promise<void> {
    if (message.topic === undefined) return react(message);
    const topic = pick(topics.filter((other) => other !== message.topic));
    const quietly = { send_notification_to_old_thread: false, send_notification_to_new_thread: false };
    const form = { topic, propagate_mode: 'change_one', ...quietly };
    if (await ask(who, 'PATCH', `/messages/${message.id}`, form)) message.topic = topic;
  }

  async function schedule(): Promise<void> {
    if (scheduled !== undefined) {
      await ask(who, 'DELETE', `/scheduled_messages/${scheduled}`);
      scheduled = undefined;
      return;
    }
    const at = Math.floor(Date.now() / 1_000) + 86_400;
    const form = { type: 'direct', to: [other.user_id], content: `later ${count++}`, scheduled_delivery_timestamp: at };
    scheduled = (await ask(who, 'POST', '/scheduled_messages', form))?.scheduled_message_id;
  }

  async function saveSnippet(): Promise<void> {
    if (snippet !== undefined) {
      await ask(who, 'DELETE', `/saved_snippets/${snippet}`);
      snippet = undefined;
      return;
    }
    const form = { title: `snippet ${name}`, content: `snippet ${count++}` };
    snippet = (await ask(who, 'POST', '/saved_snippets', form))?.saved_snippet_id;
  }

  async function changeAlertWords(): Promise<void> {
    const form = { alert_words: [`alert-${name}`] };
    if (await ask(who, isAlerted ? 'DELETE' : 'POST', '/users/me/alert_words', form)) isAlerted = !isAlerted;
  }

  async function react(message: Mine): Promise<void> {
    const method = message.hasReaction ? 'DELETE' : 'POST';
    const answer = await ask(who, method, `/messages/${message.id}/reactions`, { emoji_name: emoji });
    if (answer) message.hasReaction = !message.hasReaction;
  }

  async function flag(message: Mine): Promise<void> {
    const name = Math.random() < 0.5 ? 'isRead' : 'isStarred';
    const op = message[name] ? 'remove' : 'add';
    const form = { messages: [message.id], op, flag: name === 'isRead' ? 'read' : 'starred' };
    if (await ask(who, 'POST', '/messages/flags', form)) message[name] = !message[name];
  }

  async function remove(sent: Map<number, Sent>, message: Mine): Promise<void> {
    mine = mine.filter((one) => one !== message);
    const known = sent.get(message.id);
    if ((await ask(who, 'DELETE', `/messages/${message.id}`)) && known) known.content = undefined;
  }

  async function saveDraft(): Promise<void> {
    if (draft !== undefined) {
      await ask(who, 'DELETE', `/drafts/${draft}`);
      draft = undefined;
      return;
    }
    const form = { drafts: [{ type: 'private', to: [other.user_id], topic: '', content: `draft ${count++}` }] };
    draft = (await ask(who, 'POST', '/drafts', form))?.ids[0];
  }

  async function changeGroup(): Promise<void> {
    if (group === undefined) {
      const form = { name: `group ${name}`, description: '', members: [who.user_id] };
      group = (await ask(who, 'POST', '/user_groups/create', form))?.group_id;
      isIn = false;
      return;
    }
    const form = { [isIn ? 'delete' : 'add']: [other.user_id] };
    // The creator of the group remains a member, so that the other user can always be added again.
    if (await ask(who, 'POST', `/user_groups/${group}/members`, form)) isIn = !isIn;
  }

  async function changeSubscription(): Promise<void> {
    const answer = isSubscribed
      ? await ask(who, 'DELETE', '/users/me/subscriptions', { subscriptions: [`channel ${name}`] })
      : await ask(who, 'POST', '/users/me/subscriptions', { subscriptions: [{ name: `channel ${name}` }] });
    if (answer) isSubscribed = !isSubscribed;
  }

  async function muteTopic(): Promise<void> {
    const general = await ask(who, 'GET', '/get_stream_id', { stream: 'general' });
    const form = { stream_id: general?.stream_id, topic: `of ${name}`, visibility_policy: isMuted ? 0 : 1 };
    if (await ask(who, 'POST', '/user_topics', form)) isMuted = !isMuted;
  }

  async function restart(): Promise<void> {
    const form = { event_types: ['message'], fetch_event_types: ['message', 'realm_user', 'subscription'] };
    const queue = await ask(who, 'POST', '/register', form);
    if (queue) await ask(who, 'DELETE', '/events', { queue_id: queue.queue_id });
  }

  return async (sent) => {
    const message = pick(mine);
    const roll = Math.random();
    if (!message || roll < 0.22) return send(sent);
    if (roll < 0.31) return edit(sent, message);
    if (roll < 0.34) return move(message);
    if (roll < 0.43) return react(message);
    if (roll < 0.52) return flag(message);
    if (roll < 0.53) return ask(who, 'POST', '/mark_all_as_read');
    if (roll < 0.56) return remove(sent, message);
    if (roll < 0.59) return saveDraft();
    if (roll < 0.61) return schedule();
    if (roll < 0.63) return saveSnippet();
    if (roll < 0.65) return changeAlertWords();
    if (roll < 0.69) return changeGroup();
    if (roll < 0.72) return changeSubscription();
    if (roll < 0.75) return muteTopic();
    if (roll < 0.77) return ask(who, 'PATCH', '/settings', { twenty_four_hour_time: Math.random() < 0.5 });
    if (roll < 0.79) return ask(who, 'POST', '/users/me/status', { status_text: `status ${count++}` });
    if (roll < 0.82) return ask(who, 'POST', '/typing', { op: 'start', to: [other.user_id] });
    if (roll < 0.85) return ask(who, 'POST', '/users/me/presence', { status: 'active', ping_only: true });
    if (roll < 0.88) return ask(who, 'GET', '/messages', { anchor: 'newest', num_before: 20, num_after: 0 });
    if (roll < 0.91) return ask(who, 'GET', `/messages/${message.id}`);
    if (roll < 0.93) return ask(who, 'GET', '/users');
    if (roll < 0.95) return ask(who, 'GET', '/streams');
    if (roll < 0.97) return ask(who, 'GET', '/realm/presence');
    return restart();
  };
}
