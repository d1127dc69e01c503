import type { MarkdownIt, StateInline, Token } from 'markdown-it';
import { type Rendered, type RenderRun, runOf } from './context.ts';

/** §7.1: `@**name**`, `@**name|id**`, `@**|id**`, `@*group*`; `@_` for silent. */
const MENTION = /@(_?)(?:\*\*([^*\n]+)\*\*|\*([^*\n]+)\*)/y;
const MAY_PRECEDE = /[\s'"({[/<]/;
const NAME_AND_ID = /^(.*)\|(\d{1,15})$/;
const CHANNEL_WILDCARDS = new Set(['all', 'everyone', 'channel', 'stream']);
const TOPIC_WILDCARD = 'topic';

type Mention =
  | { kind: 'user'; id: number; name: string; silent: boolean }
  | { kind: 'group'; id: number; name: string; silent: boolean }
  | { kind: 'channel'; name: string; silent: boolean }
  | { kind: 'topic'; name: string; silent: boolean };

export function mention(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'mention', (state, silent) => {
    if (state.src[state.pos] !== '@' || !mayStartAt(state)) return false;
    MENTION.lastIndex = state.pos;
    const match = MENTION.exec(state.src);
    if (match === null || MENTION.lastIndex > state.posMax) return false;
    const run = runOf(state.env);
    const isSilent = match[1] === '_' || run.quoteDepth > 0;
    const found =
      match[2] === undefined ? group(match[3] ?? '', isSilent, run) : userOrWildcard(match[2], isSilent, run);
    if (found === undefined) return false;
    if (!silent) {
      const token = state.push('mention', '', 0);
      token.meta = found;
      token.content = match[0];
    }
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.mention = (tokens, index) => {
    const found = mentionOf(tokens[index]);
    return found === undefined ? '' : html(found, md);
  };
}

export function collectMentions(tokens: Token[]): Rendered['mentions'] {
  const users = new Set<number>();
  const silentUsers = new Set<number>();
  const groups = new Set<number>();
  let channelWildcard = false;
  let topicWildcard = false;
  for (const token of tokens.flatMap((block) => block.children ?? [])) {
    const found = mentionOf(token);
    if (found === undefined) continue;
    if (found.kind === 'user') (found.silent ? silentUsers : users).add(found.id);
    else if (found.silent) continue;
    else if (found.kind === 'group') groups.add(found.id);
    else if (found.kind === 'channel') channelWildcard = true;
    else topicWildcard = true;
  }
  return {
    userIds: [...users],
    groupIds: [...groups],
    channelWildcard,
    topicWildcard,
    silentUserIds: [...silentUsers],
  };
}

function mayStartAt(state: StateInline): boolean {
  const before = state.pos === 0 ? undefined : state.src[state.pos - 1];
  return before === undefined || MAY_PRECEDE.test(before);
}

function userOrWildcard(text: string, silent: boolean, run: RenderRun): Mention | undefined {
  if (CHANNEL_WILDCARDS.has(text)) return { kind: 'channel', name: text, silent };
  if (text === TOPIC_WILDCARD) return { kind: 'topic', name: text, silent };
  const parts = NAME_AND_ID.exec(text);
  const name = parts?.[1];
  const byId = parts === null ? undefined : { id: Number(parts[2]), ...(name ? { name } : {}) };
  const user = (byId === undefined ? undefined : run.find.user(byId)) ?? run.find.user({ name: text });
  return user === undefined ? undefined : { kind: 'user', id: user.id, name: user.name, silent };
}

function group(name: string, silent: boolean, run: RenderRun): Mention | undefined {
  const found = run.find.group(name);
  return found === undefined ? undefined : { kind: 'group', id: found.id, name: found.name, silent };
}

function mentionOf(token: Token | undefined): Mention | undefined {
  return token?.type === 'mention' ? (token.meta as Mention) : undefined;
}

function html(found: Mention, md: MarkdownIt): string {
  const text = md.utils.escapeHtml(`${found.silent ? '' : '@'}${found.name}`);
  const silent = found.silent ? ' silent' : '';
  switch (found.kind) {
    case 'user':
      return `<span class="user-mention${silent}" data-user-id="${found.id}">${text}</span>`;
    case 'group':
      return `<span class="user-group-mention${silent}" data-user-group-id="${found.id}">${text}</span>`;
    case 'channel':
      return `<span class="user-mention channel-wildcard-mention${silent}" data-user-id="*">${text}</span>`;
    case 'topic':
      return `<span class="topic-mention${silent}">${text}</span>`;
  }
}
