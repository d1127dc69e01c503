import { emojiNode } from './emoji.ts';
import type { InlineRule } from './inline.ts';
import { unicodeEmoji } from './unicode-emoji.ts';

/** Emoji names of emoticons, which are converted if the sender enabled it. */
const NAMES: Record<string, string> = {
  ':)': 'smile',
  '(:': 'smile',
  ':(': 'frown',
  '<3': 'heart',
  ':|': 'neutral',
  ':/': 'confused',
  ';)': 'wink',
  ':D': 'grinning',
  ':o': 'open_mouth',
  ':O': 'open_mouth',
  ':p': 'stuck_out_tongue',
  ':P': 'stuck_out_tongue',
};
const EMOTICON = /(?<=^|[\s,.;?!()[\]"'])(?:[:;][)(|/DoOpP]|\(:|<3)(?=$|[\s,.;?!()[\]"'])/g;

/** A cheap check whether a text may contain an emoticon. */
export const hasEmoticons = (text: string): boolean => text.search(EMOTICON) >= 0;

export const emoticons: InlineRule = (content, inline) => {
  if (!inline.run.context.translateEmoticons) return content;
  return content.replace(EMOTICON, (emoticon) => {
    const name = NAMES[emoticon] ?? '';
    const code = unicodeEmoji(name);
    return code === undefined ? emoticon : inline.mark([emojiNode(name, { kind: 'unicode', code })], emoticon);
  });
};
