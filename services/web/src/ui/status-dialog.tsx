import { type FormEvent, useState } from 'react';
import type { Emoji } from '../state/place.ts';
import type { Status } from '../state/social.ts';
import { t } from '../text/text.ts';
import { EmojiGlyph } from './emoji.tsx';
import { Field } from './field.tsx';
import { Modal } from './modal.tsx';
import { closeAfter, countEntry, entriesFromNow, openDialog } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

const maxLength = 60;
const unicode = (emoji_name: string, emoji_code: string): Emoji => ({
  emoji_name,
  emoji_code,
  reaction_type: 'unicode_emoji',
});
const suggestions: readonly Status[] = [
  { text: t('busy'), emoji: unicode('working_on_it', '1f6e0') },
  { text: t('inAMeeting'), emoji: unicode('calendar', '1f4c5') },
  { text: t('commuting'), emoji: unicode('bus', '1f68c') },
  { text: t('outSick'), emoji: unicode('hurt', '1f915') },
  { text: t('onVacation'), emoji: unicode('palm_tree', '1f334') },
  { text: t('workingRemotely'), emoji: unicode('house', '1f3e0') },
];

const paramsOf = ({ text, emoji }: Status) => ({
  status_text: text.trim(),
  emoji_name: emoji?.emoji_name ?? '',
  emoji_code: emoji?.emoji_code ?? '',
  reaction_type: emoji?.reaction_type ?? '',
});

const none: Status = { text: '', emoji: undefined };

/** The reader's own status. `draft` is the input before an emoji was chosen. */
export default function StatusDialog({ draft }: { draft: Status | undefined }) {
  const { client } = useSession();
  const known = useSelected(({ model }) => model.statuses.get(model.ownId)) ?? none;
  const [status, setStatus] = useState(draft ?? known);
  const task = useTask();
  const save = (next: Status): void =>
    void task.run(() => closeAfter(() => client.updateOwnStatus(paramsOf(next)), entriesFromNow()), t('saved'));
  const choose = (one: Status): void => {
    countEntry();
    setStatus(one);
  };
  // Another dialog takes the place of this one, which opens again with the same input.
  const chooseEmoji = (): void =>
    openDialog({
      name: 'emoji',
      title: t('emojiOfYourStatus'),
      onChoose: (emoji) => openDialog({ name: 'status', draft: { text: status.text, emoji } }),
    });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save(status);
  };
  return (
    <Modal title={t('setAStatus')}>
      <form className="stack" onSubmit={submit}>
        <div className="status-line">
          <button type="button" className="plain" onClick={chooseEmoji}>
            {status.emoji ? <EmojiGlyph emoji={status.emoji} /> : <span aria-hidden="true">☺</span>}
            <span className="hidden">{t('chooseAnEmoji')}</span>
          </button>
          <Field label={t('whatOthersReadBesideYourName')}>
            <input
              value={status.text}
              maxLength={maxLength}
              onChange={(event) => setStatus({ ...status, text: event.target.value })}
            />
          </Field>
        </div>
        <ul className="choices" aria-label={t('suggestions')}>
          {suggestions.map((one) => (
            <li key={one.text}>
              <button type="button" className="plain" onClick={() => choose(one)}>
                {one.emoji && <EmojiGlyph emoji={one.emoji} />} {one.text}
              </button>
            </li>
          ))}
        </ul>
        <p className="card-tools">
          <button type="submit" className="primary" disabled={task.isBusy}>
            {t('saveTheStatus')}
          </button>
          {(known.text !== '' || known.emoji) && (
            <button type="button" className="plain" disabled={task.isBusy} onClick={() => save(none)}>
              {t('clearTheStatus')}
            </button>
          )}
        </p>
        <Outcome task={task} />
      </form>
    </Modal>
  );
}
