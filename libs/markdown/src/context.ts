/** What a message may refer to. The lookups must be synchronous and answer only what the sender may see. */
export interface RenderContext {
  /** Origin of the realm without trailing slash, e.g. http://localhost:9991. */
  realmUrl: string;
  users: (nameOrId: { name?: string; id?: number }) => { id: number; name: string } | undefined;
  groups: (name: string) => { id: number; name: string } | undefined;
  channels: (name: string) => { id: number; name: string } | undefined;
  linkifiers: { id: number; pattern: string; urlTemplate: string }[];
  emoji: (name: string) => { kind: 'unicode'; code: string } | { kind: 'realm'; id: string; url: string } | undefined;
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
  /** Block quotes around the text being parsed; mentions in a quote are silent. */
  quoteDepth: number;
  /** Formulas still to be typeset; the rest stay source text. */
  formulasLeft: number;
  previewsLeft: number;
  linkifierBudget: { steps: number; matches: number };
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
