interface Named {
  id: number;
  name: string;
}

export interface Mentionable extends Named {
  /** Deactivated users and groups can be mentioned, but are not notified. */
  isDeactivated?: boolean;
}

export interface Linkifier {
  id: number;
  pattern: string;
  urlTemplate: string;
}

/**
 * The objects that a message may refer to, limited to what its sender may see. Plain data, because it is passed to
 * other threads.
 */
export interface RenderContext {
  /** Origin of the realm without trailing slash, e.g. http://localhost:9991. */
  realmUrl: string;
  users: readonly Mentionable[];
  groups: readonly Mentionable[];
  channels: readonly Named[];
  /** Topics that can be linked, each with its latest message. */
  topics: readonly { channelId: number; name: string; messageId: number }[];
  linkifiers: readonly Linkifier[];
  /** The realm's own emoji; they take precedence over those of Unicode. */
  emoji: readonly { id: string; name: string; url: string }[];
  translateEmoticons: boolean;
  /** Whether mentions notify nobody; off unless true. */
  areMentionsSilent?: boolean;
  /** Name or alias; '' for none. */
  defaultCodeLanguage: string;
  /** Inline previews of linked images and videos; on unless false. */
  previewMedia?: boolean;
  /** Whether `Rendered.pages` is wanted; off unless true. */
  previewPages?: boolean;
  /** Media of other sites are shown from this server, at addresses signed with this key; without it from their own. */
  externalContentKey?: string;
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
  /** Distinct hrefs of web pages of other sites that may be previewed, in order of appearance. */
  pages: string[];
}

/** State shared by the rules of one rendering. */
export interface RenderRun {
  context: RenderContext;
  find: Lookups;
  mentions: {
    userIds: Set<number>;
    groupIds: Set<number>;
    channelWildcard: boolean;
    topicWildcard: boolean;
    silentUserIds: Set<number>;
  };
  /** Remaining formulas to typeset; further ones stay source text. */
  formulasLeft: number;
  /** Remaining links that linkifiers may create. */
  matchesLeft: number;
  /** Remaining images and audio players in the text; further ones are links. */
  mediaLeft: number;
  /** Remaining steps of the parser (`steps.ts`). */
  stepsLeft: number;
}

export type FoundEmoji = { kind: 'unicode'; code: string } | { kind: 'realm'; url: string };

/** Constant-time look-ups in a context, because a message may name everything in it. */
export interface Lookups {
  user(nameOrId: { name?: string; id?: number }): Mentionable | undefined;
  group(name: string): Mentionable | undefined;
  /** Finds a channel by its exact name. */
  channel(name: string): Named | undefined;
  latestMessageId(channelId: number, topic: string): number | undefined;
  emoji(name: string): FoundEmoji | undefined;
}
