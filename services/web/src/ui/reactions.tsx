import type { SyntheticEvent } from 'react';
import type { Emoji, Message } from '../state/place.ts';
import { listText, numberText, t } from '../text/text.ts';
import { EmojiGlyph, emojiTitle } from './emoji.tsx';
import { type Directory, shownName } from './names.ts';
import { useDirectory, useSession } from './session-context.tsx';

interface Group {
  emoji: Emoji;
  userIds: number[];
}

/** The reactions of a message by emoji, in the order of their first use. */
function groupsOf({ reactions }: Message): Group[] {
  const groups = new Map<string, Group>();
  for (const { user_id, ...emoji } of reactions) {
    const key = `${emoji.reaction_type} ${emoji.emoji_code}`;
    const group = groups.get(key) ?? { emoji, userIds: [] };
    group.userIds.push(user_id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const shownNames = 20;

function namesOf(model: Directory, userIds: readonly number[]): string {
  const own = userIds.filter((id) => id === model.ownId).map(() => t('you'));
  const others = userIds.filter((id) => id !== model.ownId).map((id) => shownName(model, id));
  const names = [...own, ...others];
  const more = names.length - shownNames;
  return listText(more > 0 ? [...names.slice(0, shownNames), t('morePeople', { count: more })] : names);
}

/** The most that the names may need, in pixels. */
const namesWidth = 256;

/** The names begin or end with the reaction, so that the list does not cut them. */
function chooseSide({ currentTarget: button }: SyntheticEvent<HTMLElement>): void {
  const list = button.closest('.messages')?.getBoundingClientRect();
  if (!list) return;
  const width = Math.min(namesWidth, list.width / 2);
  button.dataset.side = button.getBoundingClientRect().left + width > list.right ? 'end' : 'start';
}

export function Reactions({ message }: { message: Message }) {
  const session = useSession();
  const model = useDirectory();
  if (message.reactions.length === 0) return null;
  return (
    <ul className="reactions" aria-label={t('reactions')}>
      {groupsOf(message).map(({ emoji, userIds }) => {
        const names = namesOf(model, userIds);
        return (
          <li key={`${emoji.reaction_type} ${emoji.emoji_code}`}>
            <button
              type="button"
              className="reaction"
              aria-pressed={userIds.includes(model.ownId)}
              aria-label={`${emojiTitle(emoji.emoji_name)}: ${userIds.length}, ${names}`}
              data-names={`${names}: ${emojiTitle(emoji.emoji_name)}`}
              onPointerEnter={chooseSide}
              onFocus={chooseSide}
              onClick={() => void session.actions.toggleReaction(message, emoji, model.ownId)}
            >
              <EmojiGlyph emoji={emoji} />
              <span>{numberText(userIds.length)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
