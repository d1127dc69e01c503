import { type FormEvent, useEffect, useState } from 'react';
import { t } from '../text/text.ts';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

export function Profile() {
  const { client } = useSession();
  const known = useSelected(({ model }) => model.people.get(model.ownId)?.name ?? '');
  const form = useForm({ full_name: known });
  const { full_name: name } = form.values;
  // The server ignores the name then.
  const isFixed = useSelected(
    ({ model: { realm, rules } }) => realm.settings.name_changes_disabled === true && !rules.isAdministrator,
  );
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.save((changed) => client.updateSettings(changed)), t('saved'));
  };
  return (
    <>
      <form className="stack" onSubmit={save}>
        <Field label={t('name')}>
          <input
            value={name}
            required
            maxLength={100}
            autoComplete="name"
            disabled={isFixed}
            onChange={(event) => form.set({ full_name: event.target.value })}
          />
        </Field>
        {isFixed && <p className="faint">{t('peopleMayNotChangeTheirNames')}</p>}
        <button
          type="submit"
          className="primary"
          disabled={isFixed || task.isBusy || name.trim() === '' || !form.isChanged}
        >
          {t('saveTheName')}
        </button>
        <Outcome task={task} />
      </form>
      <Picture />
    </>
  );
}

function Picture() {
  const { client } = useSession();
  const [address, setAddress] = useState<string>();
  const task = useTask();
  useEffect(() => {
    client.getOwnUser().then(
      // The reader may have changed the picture meanwhile.
      ({ avatar_url }) => setAddress((newer) => newer ?? avatar_url ?? undefined),
      () => undefined,
    );
  }, [client]);
  const change = (work: () => Promise<{ avatar_url: string }>, text: string): void =>
    void task.run(async () => setAddress((await work()).avatar_url), text);
  return (
    <fieldset className="stack">
      <legend>{t('picture')}</legend>
      {isOwn(address) && <img className="portrait" src={address} alt={t('youAsOthersSeeYou')} />}
      <Field label={t('newPicture')}>
        <input
          type="file"
          accept="image/*"
          disabled={task.isBusy}
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) change(() => client.setAvatar({ file }), t('thePictureIsChanged'));
            event.target.value = '';
          }}
        />
      </Field>
      <button
        type="button"
        className="plain"
        disabled={task.isBusy}
        onClick={() => change(() => client.removeAvatar(), t('thePictureIsRemoved'))}
      >
        {t('removeThePicture')}
      </button>
      <Outcome task={task} />
    </fieldset>
  );
}

/** Pictures of other hosts are not requested. */
const isOwn = (address: string | undefined): address is string =>
  address !== undefined && new URL(address, location.origin).origin === location.origin;

export function Password() {
  const { client } = useSession();
  const form = useForm({ old_password: '', new_password: '' });
  const { old_password: before, new_password: after } = form.values;
  const task = useTask();
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const send = (values: typeof form.values) => client.updateSettings(values, { retryForMs: 10_000 });
    void task.run(() => form.add(send), t('thePasswordIsChangedAllOtherSessions'));
  };
  return (
    <form className="stack" onSubmit={save}>
      <h3>{t('password')}</h3>
      <Field label={t('currentPassword')}>
        <input
          type="password"
          required
          autoComplete="current-password"
          value={before}
          onChange={(event) => form.set({ old_password: event.target.value })}
        />
      </Field>
      <Field label={t('newPassword')}>
        <input
          type="password"
          required
          minLength={6}
          maxLength={100}
          autoComplete="new-password"
          value={after}
          onChange={(event) => form.set({ new_password: event.target.value })}
        />
      </Field>
      <button type="submit" className="primary" disabled={task.isBusy || before === '' || after === ''}>
        {t('changeThePassword')}
      </button>
      <Outcome task={task} />
    </form>
  );
}
