import { ApiError } from '@natter/client';
import { type FormEvent, useCallback, useId, useState } from 'react';
import { may, mayInviteAs } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { shortTime } from './dates.ts';
import { Check, Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { Phrase } from './phrase.tsx';
import { roleName, roles } from './roles.ts';
import { SelectOptions } from './select-options.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';
import { type Task, useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Invites = Awaited<ReturnType<Client['getInvites']>>['invites'];
type Changing = Pick<Loaded<unknown>, 'change'>;

const expiries = [
  [1_440, t('days', { count: 1 })],
  [4_320, t('days', { count: 3 })],
  [10_080, t('weeks', { count: 1 })],
  [43_200, t('days', { count: 30 })],
] as const;
const initialExpiry = 10_080;

/** Invitations by mail and by link that nobody has accepted yet. */
export function Invitations() {
  const { client } = useSession();
  const fetch = useCallback(async () => (await client.getInvites()).invites, [client]);
  const { data: all, loading, change } = useLoaded(fetch);
  /** One task for all invitations, because the invitation of an action may disappear from the list after it. */
  const task = useTask();
  const isByMail = useSelected(({ model }) => may(model, 'can_invite_users_group'));
  return (
    <>
      <NewInvitations isByMail={isByMail} change={change} />
      <h3>{t('openInvitations')}</h3>
      {all?.length === 0 && <p className="faint">{t('noInvitations')}</p>}
      <ul className="cards">
        {[...(all ?? [])]
          .sort((a, b) => b.invited - a.invited || b.id - a.id)
          .map((one) => (
            <OpenInvitation key={`${one.is_multiuse} ${one.id}`} invitation={one} change={change} task={task} />
          ))}
      </ul>
      <Outcome task={task} />
      <Outcome task={loading} />
    </>
  );
}

/** An error with a refusal for each refused address. */
function refusalsOf(error: unknown): Error | undefined {
  if (!(error instanceof ApiError) || error.code !== 'INVITATION_FAILED') return undefined;
  const refused = (error.extra.errors ?? []) as [address: string, reason: string][];
  return new Error([error.message, ...refused.map(([address, reason]) => `${address}: ${reason}`)].join('\n'));
}

interface Choice {
  role: number;
  minutes: number | null;
  channels: ReadonlySet<number>;
  hasDefaults: boolean;
}

function NewInvitations({ isByMail, change }: Changing & { isByMail: boolean }) {
  const { client } = useSession();
  const isByLink = useSelected(({ model }) => may(model, 'create_multiuse_invite_group'));
  const [choice, setChoice] = useState<Choice>({
    role: 400,
    minutes: initialExpiry,
    channels: new Set(),
    hasDefaults: true,
  });
  const form = useForm({ invitee_emails: '' });
  const { invitee_emails: addresses } = form.values;
  const task = useTask();
  const shared = {
    invite_as: choice.role as 400,
    invite_expires_in_minutes: choice.minutes,
    include_realm_default_subscriptions: choice.hasDefaults,
    stream_ids: [...choice.channels],
  };
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const sendAll = (values: typeof form.values) =>
      client.sendInvites({ ...shared, ...values }).catch((error: unknown) => {
        throw refusalsOf(error) ?? error;
      });
    void task.run(() => change(() => form.add(sendAll)), t('theInvitationsAreSent'));
  };
  const makeLink = (): void =>
    void task.run(() => change(() => client.createInviteLink(shared)), t('theLinkIsAtTheTopOf'));
  return (
    <form className="stack" onSubmit={send}>
      {isByMail && (
        <Field label={t('emailAddressesSeparatedByCommasOrLines')}>
          <textarea rows={3} value={addresses} onChange={(event) => form.set({ invitee_emails: event.target.value })} />
        </Field>
      )}
      <Terms choice={choice} onChange={setChoice} />
      <p className="card-tools">
        {isByMail && (
          <button type="submit" className="primary" disabled={task.isBusy || addresses.trim() === ''}>
            {t('sendInvitations')}
          </button>
        )}
        {isByLink && (
          <button type="button" className={isByMail ? 'plain' : 'primary'} disabled={task.isBusy} onClick={makeLink}>
            {t('newInvitationLink')}
          </button>
        )}
      </p>
      <Outcome task={task} />
    </form>
  );
}

/** The rights of an invitation, and its duration. */
function Terms({ choice, onChange }: { choice: Choice; onChange: (choice: Choice) => void }) {
  const channels = useSelected(({ model }) => model.channels);
  const ownId = useSelected(({ model }) => model.ownId);
  const people = useSelected(({ model }) => model.people);
  const id = useId();
  const toggle = (channelId: number, isOn: boolean): void => {
    const next = new Set(choice.channels);
    if (isOn) next.add(channelId);
    else next.delete(channelId);
    onChange({ ...choice, channels: next });
  };
  return (
    <>
      <div className="row">
        <Field label={t('inviteAs')}>
          <select value={choice.role} onChange={(event) => onChange({ ...choice, role: Number(event.target.value) })}>
            <SelectOptions of={roles.filter(([value]) => mayInviteAs({ ownId, people }, value))} />
          </select>
        </Field>
        <Field label={t('validFor')}>
          <select
            value={choice.minutes ?? 'ever'}
            onChange={({ target: { value } }) =>
              onChange({ ...choice, minutes: value === 'ever' ? null : Number(value) })
            }
          >
            <SelectOptions of={expiries} />
            <option value="ever">{t('untilItIsRevoked')}</option>
          </select>
        </Field>
      </div>
      <Check
        label={t('subscribeToTheDefaultChannels')}
        isOn={choice.hasDefaults}
        onChange={(hasDefaults) => onChange({ ...choice, hasDefaults })}
      />
      <details className="folded">
        <summary id={id}>
          {t('otherChannels')}
          {choice.channels.size > 0 && <span className="faint"> {t('chosen', { count: choice.channels.size })}</span>}
        </summary>
        <fieldset className="checks" aria-labelledby={id}>
          {[...channels.values()]
            .sort((a, b) => a.name.localeCompare(b.name))
            .map(({ id: channelId, name }) => (
              <Check
                key={channelId}
                label={`#${name}`}
                isOn={choice.channels.has(channelId)}
                onChange={(isOn) => toggle(channelId, isOn)}
              />
            ))}
        </fieldset>
      </details>
    </>
  );
}

interface OpenInvitationProps extends Changing {
  invitation: Invites[number];
  task: Task;
}

function OpenInvitation({ invitation, change, task }: OpenInvitationProps) {
  const { client } = useSession();
  const { id, email, link_url, is_multiuse, invited_as, expiry_date } = invitation;
  const name = email ?? t('theLink');
  const revoke = (): Promise<unknown> =>
    is_multiuse ? client.revokeInviteLink({ invite_id: id }) : client.revokeInvite({ invite_id: id });
  const resend = (): Promise<unknown> => client.resendInvite({ invite_id: id });
  return (
    <li>
      <div className="row">
        <span className="grow">
          {link_url === undefined ? (
            <bdi>{email ?? t('aLinkOfSomebodyElse')}</bdi>
          ) : (
            <input readOnly aria-label={t('invitationLink')} value={link_url} onFocus={(e) => e.target.select()} />
          )}
          <span className="faint">
            {' '}
            {roleName(invited_as)}
            {expiry_date !== null && `, ${t('validUntil', { time: shortTime(expiry_date) })}`}
          </span>
        </span>
        <span className="card-tools">
          {!is_multiuse && (
            <button
              type="button"
              className="plain"
              disabled={task.isBusy}
              onClick={() => void task.run(() => change(resend), t('theMailIsSentAgain'))}
            >
              <Phrase short={t('sendAgain')} full={t('sendAgainTo', { name })} />
            </button>
          )}
          <button
            type="button"
            className="plain"
            disabled={task.isBusy}
            onClick={() => void task.run(() => change(revoke))}
          >
            <Phrase short={t('revoke')} full={t('revokeName', { name })} />
          </button>
        </span>
      </div>
    </li>
  );
}
