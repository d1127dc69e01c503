import { type FormEvent, useRef } from 'react';
import { t } from '../text/text.ts';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

/** Maximum length of an alert word, the same as in the server. */
const maxLength = 100;

/** The words that notify the person when a message contains them. */
export function AlertWords() {
  const { client } = useSession();
  const words = useSelected(({ model }) => model.alertWords);
  const form = useForm({ text: '' });
  const { text } = form.values;
  const input = useRef<HTMLInputElement>(null);
  const task = useTask();
  const add = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.add(() => client.addAlertWords({ alert_words: [text] })), t('theWordIsAdded'));
  };
  const remove = (word: string): void => {
    // The button that had the focus disappears.
    input.current?.focus();
    void task.run(() => client.removeAlertWords({ alert_words: [word] }), t('removed'));
  };
  return (
    <form className="stack" onSubmit={add}>
      <h3>{t('alertWords')}</h3>
      <p className="faint">{t('aMessageWithOneOfTheseWords')}</p>
      {words.length > 0 && (
        <ul className="chips" aria-label={t('alertWords')}>
          {words.map((word) => (
            <li key={word}>
              <bdi>{word}</bdi>
              <button type="button" disabled={task.isBusy} onClick={() => remove(word)}>
                <span aria-hidden="true">✕</span>
                <span className="hidden">{t('removeName', { name: word })}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <Field label={t('newAlertWord')}>
        <input
          ref={input}
          value={text}
          maxLength={maxLength}
          autoComplete="off"
          dir="auto"
          onChange={(event) => form.set({ text: event.target.value })}
        />
      </Field>
      <button type="submit" className="primary" disabled={task.isBusy || text.trim() === ''}>
        {t('addTheWord')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
