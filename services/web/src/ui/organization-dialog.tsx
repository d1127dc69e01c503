import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { findPeople } from '../state/completion.ts';
import { shortTime } from './dates.ts';
import { Field } from './field.tsx';
import { Modal } from './modal.tsx';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
const roles = [
  [100, 'Owner'],
  [200, 'Administrator'],
  [300, 'Moderator'],
  [400, 'Member'],
  [600, 'Guest'],
] as const;
const shown = 50;

/** The settings that administrators change for everybody. */
export default function Organization() {
  return (
    <Modal title="Organization" isWide>
      <Identity />
      <Invitations />
      <People />
    </Modal>
  );
}

function Identity() {
  const { client } = useSession();
  const known = useSelected(({ model }) => model.realmName);
  const [name, setName] = useState(known);
  const [description, setDescription] = useState<string>();
  /** The values before any change. Only changed values are sent, because somebody else may change the others. */
  const [before, setBefore] = useState<{ name: string; description?: string }>({ name: known });
  const task = useTask();
  useEffect(() => {
    client.getServerSettings().then(
      (answer) => {
        const text = String((answer as Record<string, unknown>).realm_description ?? '');
        setBefore((all) => ({ ...all, description: text }));
        setDescription(text);
      },
      () => undefined,
    );
  }, [client]);
  const changed = {
    ...(name === before.name ? {} : { name }),
    ...(description === undefined || description === before.description ? {} : { description }),
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      await client.updateRealm(changed);
      setBefore((all) => ({ ...all, ...changed }));
    }, 'Saved.');
  };
  return (
    <form className="stack" onSubmit={save}>
      <Field label="Name of the organization">
        <input value={name} required maxLength={40} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Description">
        <textarea
          rows={3}
          maxLength={1_000}
          value={description ?? ''}
          disabled={description === undefined}
          onChange={(e) => setDescription(e.target.value)}
        />
      </Field>
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || name.trim() === '' || Object.keys(changed).length === 0}
      >
        Save
      </button>
      <Outcome task={task} />
    </form>
  );
}

type Invites = Awaited<ReturnType<Client['getInvites']>>['invites'];

function Invitations() {
  const { client } = useSession();
  const [all, setAll] = useState<Invites>([]);
  const [role, setRole] = useState(400);
  const task = useTask();
  const load = useCallback(async () => setAll((await client.getInvites()).invites), [client]);
  useEffect(() => void load().catch(() => undefined), [load]);
  const create = (): void =>
    void task.run(async () => {
      await client.createInviteLink({ invite_as: role as 400, include_realm_default_subscriptions: true });
      await load();
    }, 'The link is at the top of the list.');
  const revoke = ({ id, is_multiuse }: Invites[number]): void =>
    void task.run(async () => {
      await (is_multiuse ? client.revokeInviteLink({ invite_id: id }) : client.revokeInvite({ invite_id: id }));
      await load();
    }, 'The invitation is revoked.');
  return (
    <section aria-labelledby="invitations">
      <h3 id="invitations">Invitations</h3>
      <div className="row">
        <Field label="Invite as">
          <select value={role} onChange={(event) => setRole(Number(event.target.value))}>
            {roles.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <button type="button" className="primary" disabled={task.isBusy} onClick={create}>
          New invitation link
        </button>
      </div>
      <ul className="cards">
        {[...all]
          .sort((a, b) => b.invited - a.invited || b.id - a.id)
          .map((one) => (
            <li key={`${one.is_multiuse} ${one.id}`} className="row">
              <span className="grow">
                {one.link_url === undefined ? (
                  <bdi>{one.email}</bdi>
                ) : (
                  <input
                    readOnly
                    aria-label="Invitation link"
                    value={one.link_url}
                    onFocus={(e) => e.target.select()}
                  />
                )}
                <span className="faint">
                  {roles.find(([value]) => value === one.invited_as)?.[1]}
                  {one.expiry_date !== null && `, until ${shortTime(one.expiry_date)}`}
                </span>
              </span>
              <button type="button" className="plain" disabled={task.isBusy} onClick={() => revoke(one)}>
                Revoke
              </button>
            </li>
          ))}
      </ul>
      <Outcome task={task} />
    </section>
  );
}

const noWriters: ReadonlySet<number> = new Set();

function People() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const [filter, setFilter] = useState('');
  const [known, setKnown] = useState<ReadonlyMap<number, number>>(new Map());
  const task = useTask();
  useEffect(() => {
    client.getUsers({ client_gravatar: true }).then(
      ({ members }) => setKnown(new Map(members.map(({ user_id, role }) => [user_id, role]))),
      () => undefined,
    );
  }, [client]);
  const setRole = (id: number, role: number): void =>
    void task.run(async () => {
      await client.updateUser({ user_id_or_email: String(id), role });
      setKnown(new Map(known).set(id, role));
    }, 'The role is changed.');
  const found = findPeople(filter, { model, place: undefined, writers: noWriters }, shown).filter(
    ({ isBot }) => !isBot,
  );
  return (
    <section aria-labelledby="people">
      <h3 id="people">People</h3>
      <input
        type="search"
        aria-label="Find people to change"
        placeholder="Find people"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <ul className="cards">
        {found.map(({ id, name }) => (
          <li key={id} className="row">
            <bdi className="grow">{name}</bdi>
            {known.has(id) && (
              <select
                aria-label={`Role of ${name}`}
                value={known.get(id)}
                disabled={task.isBusy}
                onChange={(event) => setRole(id, Number(event.target.value))}
              >
                {roles.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            )}
            {id !== model.ownId && (
              <Deactivate name={name} run={() => void task.run(() => client.deactivateUser({ user_id: id }))} />
            )}
          </li>
        ))}
      </ul>
      {found.length >= shown && <p className="faint">There are more: type a name.</p>}
      <Outcome task={task} />
    </section>
  );
}

/** Asks once more. */
function Deactivate({ name, run }: { name: string; run: () => void }) {
  const [isSure, setSure] = useState(false);
  return isSure ? (
    <button type="button" className="danger" onClick={run} onBlur={() => setSure(false)}>
      Deactivate {name}
    </button>
  ) : (
    <button type="button" className="plain" onClick={() => setSure(true)}>
      Deactivate<span className="hidden"> {name}</span>
    </button>
  );
}
