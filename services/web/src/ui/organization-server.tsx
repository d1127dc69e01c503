import { useCallback, useEffect, useState } from 'react';
import { serverNow } from '../session/server-time.ts';
import { listText, numberText, t } from '../text/text.ts';
import { dateLanguage } from './dates.ts';
import { Outcome } from './outcome.tsx';
import { useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type Status = Awaited<ReturnType<Client['getServerStatus']>>;

const refreshMs = 30_000;
/** Short, so that an administrator who looks for an outage sees it soon. */
const retryForMs = 5_000;

/** The state of the server. It is read again every half minute while it is shown. */
export function Server() {
  const session = useSession();
  const { client } = session;
  const [read, setRead] = useState<{ status: Status; at: Date }>();
  const task = useTask({ isReading: true });
  const load = useCallback(async () => {
    const status = await client.getServerStatus({}, { retryForMs });
    setRead({ status, at: new Date(serverNow(session.state)) });
  }, [session, client]);
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async (): Promise<void> => {
      if (!document.hidden) await task.run(load);
      if (isShown) timer = setTimeout(refresh, refreshMs);
    };
    void refresh();
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [load]);
  return (
    <>
      {/* Its text changes only with the state, so that screen readers do not read every refresh. */}
      <p role="status">{read ? summaryOf(read.status) : task.problem === undefined && t('loading')}</p>
      {read && <Facts status={read.status} />}
      {read && <Services services={read.status.services} />}
      <p className="card-tools">
        <button
          type="button"
          className="plain"
          aria-disabled={task.isBusy}
          onClick={() => {
            if (!task.isBusy) void task.run(load, t('theStateIsRefreshed'));
          }}
        >
          {t('refresh')}
        </button>
        {read && <span className="faint">{t('stateAt', { time: timeText(read.at) })}</span>}
      </p>
      <Outcome task={task} />
    </>
  );
}

function summaryOf({ services }: Status): string {
  const silent = services.filter(({ is_available }) => !is_available).map(({ name }) => name);
  return silent.length === 0 ? t('allServicesAnswer') : t('servicesWithoutAnswer', { names: listText(silent) });
}

const timeText = (at: Date): string => new Intl.DateTimeFormat(dateLanguage(), { timeStyle: 'medium' }).format(at);

function Facts({ status: { server_version, people_online, event_queues } }: { status: Status }) {
  const count = (value: number | null): string => (value === null ? t('notKnownNow') : numberText(value));
  return (
    <dl className="facts">
      <dt>{t('serverVersion')}</dt>
      <dd>{server_version}</dd>
      <dt>{t('peopleOnline')}</dt>
      <dd>{count(people_online)}</dd>
      <dt>{t('eventQueues')}</dt>
      <dd>{count(event_queues)}</dd>
    </dl>
  );
}

function Services({ services }: Pick<Status, 'services'>) {
  return (
    <table className="services">
      <caption>{t('serverServices')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('serverService')}</th>
          <th scope="col">{t('serviceState')}</th>
          <th scope="col">{t('serviceVersion')}</th>
          <th scope="col">{t('answersAfter')}</th>
        </tr>
      </thead>
      <tbody>
        {services.map(({ name, is_available, versions, latency_ms }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className={is_available ? undefined : 'alarm'}>
              {is_available ? t('serviceAnswers') : t('serviceDoesNotAnswer')}
            </td>
            <td>{versions.length === 0 ? '–' : listText(versions)}</td>
            <td>{latency_ms === null ? '–' : t('milliseconds', { time: latency_ms })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
