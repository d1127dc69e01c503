import type { FormEvent } from 'react';
import type { Folder } from '../state/folders.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { OrderButtons } from './order-buttons.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import type { Place } from './use-ordered-list.ts';
import { type Task, useTask } from './use-task.ts';

const maxName = 60;

/** The folders in which the sidebar shows channels. The settings of a channel choose its folder. */
export function FolderList() {
  const { client } = useSession();
  const folders = useSelected(({ model }) => model.folders);
  const task = useTask();
  const shown = folders.filter(({ isArchived }) => !isArchived);
  /** Exchanges two folders of the list; archived ones keep their places. */
  const move = (folder: Folder, step: number): void => {
    const other = shown[shown.indexOf(folder) + step];
    if (!other) return;
    const order = folders.map(({ id }) => (id === folder.id ? other.id : id === other.id ? folder.id : id));
    void task.run(() => client.reorderChannelFolders({ order }), t('theOrderIsChanged'));
  };
  return (
    <>
      <p className="faint">{t('theSidebarShowsChannelsByFolderThe')}</p>
      <NewFolder />
      <ul className="cards">
        {shown.map((folder, at) => (
          <FolderCard
            key={folder.id}
            folder={folder}
            task={task}
            place={{
              isBusy: task.isBusy,
              isFirst: at === 0,
              isLast: at === shown.length - 1,
              onMove: (step) => move(folder, step),
            }}
          />
        ))}
      </ul>
      {shown.length === 0 && <p className="faint">{t('thereAreNoFoldersYet')}</p>}
      <Outcome task={task} />
    </>
  );
}

function NewFolder() {
  const { client } = useSession();
  const form = useForm({ name: '' });
  const { name } = form.values;
  const task = useTask();
  const create = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.add((values) => client.createChannelFolder(values)), t('theFolderIsAtTheEndOf'));
  };
  return (
    <form className="stack" onSubmit={create}>
      <Field label={t('nameOfTheFolder')}>
        <input value={name} required maxLength={maxName} onChange={(event) => form.set({ name: event.target.value })} />
      </Field>
      <button type="submit" className="primary" disabled={task.isBusy || name.trim() === ''}>
        {t('createTheFolder')}
      </button>
      <Outcome task={task} />
    </form>
  );
}

interface FolderCardProps {
  folder: Folder;
  task: Task;
  place: Place;
}

function FolderCard({ folder: { id, name: known }, task, place }: FolderCardProps) {
  const { client } = useSession();
  const form = useForm({ name: known });
  const { name } = form.values;
  const update = (changes: { name?: string; is_archived?: true }) =>
    client.updateChannelFolder({ channel_folder_id: id, ...changes });
  const rename = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.save(update), t('theFolderIsRenamed'));
  };
  return (
    <li>
      <form className="row" onSubmit={rename}>
        <input
          className="grow"
          aria-label={t('newNameOf', { name: known })}
          value={name}
          required
          maxLength={maxName}
          onChange={(event) => form.set({ name: event.target.value })}
        />
        <button type="submit" className="plain" disabled={task.isBusy || name.trim() === '' || !form.isChanged}>
          <Phrase short={t('rename')} full={t('renameName', { name: known })} />
        </button>
      </form>
      <div className="card-tools">
        <OrderButtons name={known} place={place} />
        <ConfirmButton
          action={t('remove')}
          full={t('removeName', { name: known })}
          isDisabled={task.isBusy}
          onConfirm={() => void task.run(() => update({ is_archived: true }), t('theFolderIsRemoved'))}
        />
      </div>
    </li>
  );
}
