import type { FormEvent } from 'react';
import { may } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useFile } from './use-file.ts';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

/** The emoji that people of the organization added. */
export function EmojiList() {
  const model = useSelected((state) => state.model);
  const { client } = useSession();
  const task = useTask();
  const all = [...model.marks.emoji.values()].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <>
      {may(model, 'can_add_custom_emoji_group') && <NewEmoji />}
      <ul className="cards">
        {all.map(({ id, name, url, authorId }) => (
          <li key={id} className="row">
            <img className="own-emoji" src={url} alt="" />
            <bdi className="grow">:{name}:</bdi>
            {(model.rules.isAdministrator || authorId === model.ownId) && (
              <ConfirmButton
                action={t('remove')}
                full={t('removeName', { name })}
                isDisabled={task.isBusy}
                onConfirm={() => void task.run(() => client.removeRealmEmoji({ emoji_name: name }), t('removed'))}
              />
            )}
          </li>
        ))}
      </ul>
      {all.length === 0 && <p className="faint">{t('nobodyHasAddedAnEmojiYet')}</p>}
      <Outcome task={task} />
    </>
  );
}

/** `Party Parrot.png` becomes `party_parrot`. */
const nameOfFile = (file: string): string =>
  file
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '');

function NewEmoji() {
  const { client } = useSession();
  const form = useForm({ name: '' });
  const { name } = form.values;
  const picture = useFile();
  const { file } = picture;
  const task = useTask();
  const add = (event: FormEvent): void => {
    event.preventDefault();
    if (!file) return;
    void task.run(async () => {
      await form.add(() => client.addRealmEmoji({ emoji_name: name, file }));
      picture.end(file);
    }, t('theEmojiIsAdded'));
  };
  return (
    <form className="stack" onSubmit={add}>
      <Field label={t('picture')}>
        <input
          ref={picture.field}
          type="file"
          accept="image/*"
          required
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            picture.choose(chosen);
            if (chosen && name === '') form.set({ name: nameOfFile(chosen.name) });
          }}
        />
      </Field>
      <Field label={t('nameOfTheEmoji')}>
        <input
          value={name}
          required
          maxLength={100}
          pattern="[0-9a-z_\-]*[0-9a-z]"
          title={t('smallLettersDigitsLinesAndUnderscores')}
          autoComplete="off"
          onChange={(event) => form.set({ name: event.target.value })}
        />
      </Field>
      <button type="submit" className="primary" disabled={task.isBusy || !file || name === ''}>
        {t('addTheEmoji')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
