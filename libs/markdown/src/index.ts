/** Names of emoji and emoticons, and the types of what is rendered. Services render with `@natter/renderer`. */
export type { Linkifier, RenderContext, Rendered } from './context.ts';
export { hasEmoticons } from './emoticon.ts';
export type { TopicLink } from './topic-links.ts';
export { emojiNames, unicodeEmoji } from './unicode-emoji.ts';
