import type { Emoji } from '../state/place.ts';
import { isOwnPicture } from './own-picture.ts';
import { useSelected } from './session-context.tsx';

export const thumbsUp: Emoji = { emoji_name: 'thumbs_up', emoji_code: '1f44d', reaction_type: 'unicode_emoji' };

/** `heart_eyes` is read as "heart eyes". */
export const emojiTitle = (name: string): string => name.replaceAll('_', ' ');

/** An emoji is a character, or a picture of the organisation. */
export function EmojiGlyph({ emoji }: { emoji: Readonly<Record<keyof Emoji, string>> }) {
  const url = useSelected(({ model }) => model.marks.emoji.get(emoji.emoji_code)?.url);
  if (emoji.reaction_type === 'unicode_emoji')
    return (
      <span className="glyph" aria-hidden="true">
        {charactersOf(emoji.emoji_code)}
      </span>
    );
  if (url === undefined || !isOwnPicture(url)) return <span aria-hidden="true">:{emoji.emoji_name}:</span>;
  return <img className="glyph" src={url} alt="" />;
}

function charactersOf(code: string): string {
  const points = code.split('-').map((one) => Number.parseInt(one, 16));
  return points.every((point) => point <= 0x10_ff_ff) ? String.fromCodePoint(...points) : '';
}
