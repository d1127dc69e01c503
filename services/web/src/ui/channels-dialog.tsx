import { type FormEvent, useState } from 'react';
import type { ListedChannel } from '../state/listed.ts';
import { t } from '../text/text.ts';
import { ChannelSettings } from './channel-settings.tsx';
import { currentName } from './current-name.ts';
import { Check, Field } from './field.tsx';
import { Modal } from './modal.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { SearchField } from './search-field.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useAllChannels } from './use-all-channels.ts';
import { useForm } from './use-form.ts';
import { useNewForm } from './use-new-form.ts';
import { type Task, useTask } from './use-task.ts';

const shown = 100;

/** All channels that the person may see. */
export default function Channels() {
  const [filter, setFilter] = useState('');
  const creation = useNewForm();
  const [open, setOpen] = useState<number>();
  const { all, loading } = useAllChannels();
  const wanted = filter.trim().toLowerCase();
  const found = (all ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <Modal title={t('channels')} isWide>
      <div className="row">
        <SearchField label={t('findChannels')} text={filter} onChange={setFilter} />
        <button {...creation.button}>{t('newChannel')}</button>
      </div>
      {creation.isOpen && (
        <NewChannel task={creation.task} onMade={(id) => setOpen((now) => now ?? id)} onEmptied={creation.close} />
      )}
      <Outcome task={creation.task} />
      <ul className="cards">
        {found.slice(0, shown).map((one) => (
          <ChannelCard
            key={one.id}
            listed={one}
            isOpen={open === one.id}
            onToggle={() => setOpen(open === one.id ? undefined : one.id)}
          />
        ))}
      </ul>
      {all && found.length === 0 && <p className="faint">{t('noChannelHasSuchAName')}</p>}
      {found.length > shown && <p className="faint">{t('moreTypeAName', { count: found.length - shown })}</p>}
      <Outcome task={loading} />
    </Modal>
  );
}

interface ChannelCardProps {
  listed: ListedChannel;
  isOpen: boolean;
  onToggle: () => void;
}

function ChannelCard({ listed, isOpen, onToggle }: ChannelCardProps) {
  const { id, name, description, isPrivate } = listed;
  const { client } = useSession();
  const own = useSelected(({ model }) => model.channels.get(id));
  const task = useTask();
  const change = (): void =>
    void task.run(async () => {
      const current = await currentName(client, id);
      await (own
        ? client.unsubscribe({ subscriptions: [current] })
        : client.subscribe({ subscriptions: [{ name: current }] }));
    });
  return (
    <li>
      <div className="row">
        <span>
          <bdi>
            <b>#{name}</b>
          </bdi>
          {isPrivate && <span className="faint"> {t('privateChannel')}</span>}
        </span>
        <span className="card-tools">
          <button type="button" className="plain" aria-expanded={isOpen} onClick={onToggle}>
            <Phrase short={t('details')} full={t('detailsOf', { name })} />
          </button>
          <button type="button" className={own ? 'plain' : 'primary'} disabled={task.isBusy} onClick={change}>
            {own ? (
              <Phrase short={t('unsubscribe')} full={t('unsubscribeName', { name })} />
            ) : (
              <Phrase short={t('subscribe')} full={t('subscribeName', { name })} />
            )}
          </button>
        </span>
      </div>
      {description !== '' && (
        <p className="excerpt" dir="auto">
          {description}
        </p>
      )}
      {own && <Own id={id} task={task} />}
      <Outcome task={task} />
      {isOpen && <ChannelSettings id={id} />}
    </li>
  );
}

function Own({ id, task }: { id: number; task: Task }) {
  const { client } = useSession();
  const own = useSelected(({ model }) => model.channels.get(id));
  if (!own) return null;
  const set = (property: string, value: boolean | string): void =>
    void task.run(() => client.updateSubscriptions({ subscription_data: [{ stream_id: id, property, value }] }));
  return (
    <div className="card-tools">
      <Check label={t('pinned')} isOn={own.isPinned} onChange={(isOn) => set('pin_to_top', isOn)} />
      <Check label={t('muted')} isOn={own.isMuted} onChange={(isOn) => set('is_muted', isOn)} />
      <label className="check">
        <input
          type="color"
          defaultValue={own.color}
          key={own.color}
          onBlur={(event) => {
            if (event.target.value !== own.color) set('color', event.target.value);
          }}
        />
        <span>{t('color')}</span>
      </label>
    </div>
  );
}

interface NewChannelProps {
  task: Task;
  onMade: (id: number) => void;
  onEmptied: (form: HTMLFormElement) => void;
}

function NewChannel({ task, onMade, onEmptied }: NewChannelProps) {
  const session = useSession();
  const form = useForm({ name: '', description: '', invite_only: false });
  const { name, description, invite_only: isPrivate } = form.values;
  const send = async (values: typeof form.values): Promise<void> => {
    const subscribers = [session.state.model.ownId];
    onMade((await session.client.createChannel({ ...values, subscribers })).id);
  };
  const create = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const element = event.currentTarget;
    void task.run(async () => {
      if (await form.add(send)) onEmptied(element);
    }, t('theChannelIsCreated'));
  };
  return (
    <form className="stack panel" onSubmit={create}>
      <Field label={t('name')}>
        <input value={name} required maxLength={60} onChange={(event) => form.set({ name: event.target.value })} />
      </Field>
      <Field label={t('description')}>
        <input
          value={description}
          maxLength={1_024}
          onChange={(event) => form.set({ description: event.target.value })}
        />
      </Field>
      <Check
        label={t('privateOnlyMembersSeeItAndIts')}
        isOn={isPrivate}
        onChange={(invite_only) => form.set({ invite_only })}
      />
      <button type="submit" className="primary" disabled={task.isBusy || name.trim() === ''}>
        {t('create')}
      </button>
    </form>
  );
}
