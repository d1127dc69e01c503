/** Names of emoji and emoticons, addresses, and the types of rendered content. Services render with `@natter/renderer`. */
export { messageAddress } from './channel-link.ts';
export type { Linkifier, RenderContext, Rendered } from './context.ts';
export { hasEmoticons } from './emoticon.ts';
export { externalContentAddress } from './external-content.ts';
export { type PagePreview, pagePreviewHtml } from './page-preview.ts';
export { type MarkdownSource, markdownSource } from './source.ts';
export type { TopicLink } from './topic-links.ts';
export { emojiCode, emojiNames, unicodeEmoji } from './unicode-emoji.ts';
