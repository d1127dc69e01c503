import { listText, t } from '../text/text.ts';
import { personName } from './names.ts';
import { useDirectory, useSelected } from './session-context.tsx';

const named = 3;

/** Names the people who are typing. Hidden from screen readers, because it changes too often. */
export function TypingLine({ placeKey }: { placeKey: string }) {
  const typing = useSelected((state) => state.composing.typing.get(placeKey));
  const model = useDirectory();
  const names = (typing ?? []).filter((id) => !model.muted.has(id)).map((id) => personName(model, id));
  const text =
    names.length === 0
      ? ''
      : names.length > named
        ? t('severalPeopleAreTyping')
        : t('typing', { names: listText(names), count: names.length });
  return <p className="typing">{text}</p>;
}
