/** Emoticons that become emoji where the writer has asked for it, by emoji name. */
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

/** Whether a text may hold one; cheap, for texts that hold none. */
export const hasEmoticons = (text: string): boolean => text.search(EMOTICON) >= 0;

export function findEmoticons(text: string): { start: number; end: number; name: string }[] {
  return [...text.matchAll(EMOTICON)].flatMap((match) => {
    const name = NAMES[match[0]];
    return name === undefined ? [] : [{ start: match.index, end: match.index + match[0].length, name }];
  });
}
