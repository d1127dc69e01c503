import { useEffect, useMemo, useState } from 'react';
import { problemOf } from '../session/problem.ts';
import type { Emoji } from '../state/place.ts';
import { t } from '../text/text.ts';
import { type Choice, Chooser } from './chooser.tsx';
import { Dialog } from './dialog.tsx';
import { EmojiGlyph, emojiTitle } from './emoji.tsx';
import { closeDialog } from './open-dialog.ts';
import { useSelected } from './session-context.tsx';

const maxShown = 240;
const columns = 8;
const often = [
  ...['thumbs_up', 'heart', 'tada', 'smile', 'joy', 'eyes', 'check', 'rocket', 'clap', 'fire', 'thinking', 'cry'],
  ...['pray', '100', 'wave', 'thumbs_down'],
];

interface Named extends Emoji {
  names: readonly string[];
}
interface EmojiPickerProps {
  title: string;
  onChoose: (chosen: Emoji, written: string) => void;
}
type EmojiChoice = Choice & { emoji: Named };

let table: Promise<Named[]> | undefined;

/** Emoji in frequent use, then faces, then other pictures, then signs. */
function rankOf({ names, emoji_code }: Named): number {
  const at = often.findIndex((name) => names.includes(name));
  if (at >= 0) return at;
  if (/^1f6[0-4]/.test(emoji_code)) return often.length;
  return often.length + (emoji_code.startsWith('1f') ? 1 : 2);
}

/** The server's own table of names. */
async function readTable(): Promise<Named[]> {
  const answer = await fetch('/static/emoji_data.json');
  if (!answer.ok) throw new Error(t('theEmojiCouldNotBeLoaded'));
  const { code_to_names } = (await answer.json()) as { code_to_names: Record<string, string[]> };
  return Object.entries(code_to_names).map(([emoji_code, names]) => ({
    emoji_name: names[0] ?? '',
    emoji_code,
    reaction_type: 'unicode_emoji',
    names,
  }));
}

function useEmoji(): { emoji: readonly Named[]; problem: string | undefined } {
  const realmEmoji = useSelected(({ model }) => model.marks.emoji);
  const [known, setKnown] = useState<readonly Named[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    table ??= readTable();
    table.then(setKnown, (error: unknown) => {
      table = undefined;
      setProblem(problemOf(error));
    });
  }, []);
  const emoji = useMemo(() => {
    const own = [...realmEmoji.values()].map(({ id, name }): Named => {
      return { emoji_name: name, emoji_code: id, reaction_type: 'realm_emoji', names: [name] };
    });
    return [...own, ...known.toSorted((a, b) => rankOf(a) - rankOf(b))];
  }, [known, realmEmoji]);
  return { emoji, problem };
}

/** A text names an emoji of the organization before the character of the same name. */
function writtenAs({ emoji_name, reaction_type, names }: Named, ownNames: ReadonlySet<string>): string {
  const name = reaction_type === 'unicode_emoji' ? names.find((one) => !ownNames.has(one)) : emoji_name;
  return `:${name ?? emoji_name}:`;
}

export default function EmojiPicker({ title, onChoose }: EmojiPickerProps) {
  const ownEmoji = useSelected(({ model }) => model.marks.emoji);
  const { emoji, problem } = useEmoji();
  const choicesFor = (text: string): EmojiChoice[] => {
    const wanted = text.trim().toLowerCase().replaceAll(' ', '_').replaceAll(':', '');
    const found = emoji.filter(({ names }) => names.some((name) => name.includes(wanted)));
    const startsSo = ({ names }: Named): number => Number(!names.some((name) => name.startsWith(wanted)));
    return found
      .toSorted((a, b) => (wanted === '' ? 0 : startsSo(a) - startsSo(b)))
      .slice(0, maxShown)
      .map((one) => ({
        key: `${one.reaction_type} ${one.emoji_code}`,
        label: emojiTitle(one.emoji_name),
        picture: <EmojiGlyph emoji={one} />,
        emoji: one,
      }));
  };
  const choose = ({ emoji: chosen }: EmojiChoice): void => {
    closeDialog();
    onChoose(chosen, writtenAs(chosen, new Set([...ownEmoji.values()].map(({ name }) => name))));
  };
  return (
    <Dialog title={title}>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <Chooser
        label={t('findAnEmoji')}
        placeholder={t('findAnEmoji')}
        choicesFor={choicesFor}
        onChoose={choose}
        columns={columns}
      />
    </Dialog>
  );
}
