export interface Named {
  id: number;
  name: string;
}

export interface Linkifier {
  id: number;
  pattern: string;
  urlTemplate: string;
}

/** What a message may refer to, of what its sender may see. Plain data: it is passed to other threads. */
export interface RenderContext {
  /** Origin of the realm without trailing slash, e.g. http://localhost:9991. */
  realmUrl: string;
  users: readonly Named[];
  groups: readonly Named[];
  channels: readonly Named[];
  linkifiers: readonly Linkifier[];
  /** The realm's own emoji; they take precedence over those of Unicode. */
  emoji: readonly { id: string; name: string; url: string }[];
  translateEmoticons: boolean;
  /** Pygments name or alias; '' for none. */
  defaultCodeLanguage: string;
  /** Inline previews of linked images and videos; on unless false. */
  previewMedia?: boolean;
}

export interface Rendered {
  html: string;
  mentions: {
    userIds: number[];
    groupIds: number[];
    channelWildcard: boolean;
    topicWildcard: boolean;
    silentUserIds: number[];
  };
  isMeMessage: boolean;
  hasLink: boolean;
  hasImage: boolean;
  /** Distinct hrefs in order of appearance, channel links excluded. */
  links: string[];
}

/** What the rules of one rendering share, carried in markdown-it's env. */
export interface RenderRun {
  context: RenderContext;
  find: Lookups;
  /** Block quotes around the text being parsed; mentions in a quote are silent. */
  quoteDepth: number;
  /** Formulas still to be typeset; the rest stay source text. */
  formulasLeft: number;
  previewsLeft: number;
  /** Links that linkifiers may still make. */
  matchesLeft: number;
  /** Steps of the parser that are left (`steps.ts`). */
  stepsLeft: number;
}

export type FoundEmoji = { kind: 'unicode'; code: string } | { kind: 'realm'; url: string };

/** Constant-time look-ups in a context: a message may name as much as its context holds. */
export interface Lookups {
  user(nameOrId: { name?: string; id?: number }): Named | undefined;
  group(name: string): Named | undefined;
  channel(name: string): Named | undefined;
  emoji(name: string): FoundEmoji | undefined;
}

const RUN = Symbol('run');

export function envOf(run: RenderRun): Record<string | symbol, unknown> {
  return { [RUN]: run };
}

export function runOf(env: Record<string | symbol, unknown> | undefined): RenderRun {
  const run = env?.[RUN];
  if (run === undefined) throw new Error('rendered without a context');
  return run as RenderRun;
}
