import type { Client } from '@natter/client';
import { useEffect, useState } from 'react';
import { problemOf } from '../session/problem.ts';
import { t } from '../text/text.ts';
import { shortTime } from './dates.ts';
import { Modal } from './modal.tsx';
import { channelName, type Directory, personName, topicName } from './names.ts';
import { Rendered } from './rendered.tsx';
import { useDirectory, useListedChannels, useSession } from './session-context.tsx';

type Version = Awaited<ReturnType<Client['getMessageHistory']>>['message_history'][number];

/** The versions of a message with their conversations, the oldest first. */
export default function History({ messageId }: { messageId: number }) {
  const { client } = useSession();
  const directory = useDirectory();
  // A message may have been in any channel.
  useListedChannels();
  const [versions, setVersions] = useState<readonly Version[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const request = new AbortController();
    const params = { message_id: messageId, allow_empty_topic_name: true };
    client.getMessageHistory(params, { signal: request.signal }).then(
      ({ message_history }) => setVersions(message_history),
      (error: unknown) => request.signal.aborted || setProblem(problemOf(error)),
    );
    return () => request.abort();
  }, [client, messageId]);
  return (
    <Modal title={t('editsAndMoves')} isWide>
      {problem !== undefined && <p role="alert">{t('historyNotLoaded', { problem })}</p>}
      {problem === undefined && versions === undefined && <p role="status">{t('loading')}</p>}
      <ol className="cards history" aria-label={t('versions')}>
        {versions?.map((version, index) => (
          <li key={index}>
            <p className="card-head">
              <span>{doneBy(directory, version, index === 0)}</span>
              <time className="faint" dateTime={new Date(version.timestamp * 1_000).toISOString()}>
                {shortTime(version.timestamp)}
              </time>
            </p>
            <Moved version={version} directory={directory} />
            <Text version={version} isFirst={index === 0} />
          </li>
        ))}
      </ol>
    </Modal>
  );
}

const isEdit = ({ prev_content }: Version): boolean => prev_content !== undefined;
const isMove = ({ prev_topic, prev_stream }: Version): boolean => prev_topic !== undefined || prev_stream !== undefined;

function doneBy(directory: Directory, version: Version, isFirst: boolean): string {
  const name = version.user_id === null ? t('somebody') : personName(directory, version.user_id);
  if (isFirst) return t('writtenBy', { name });
  if (isEdit(version) && isMove(version)) return t('editedAndMovedBy', { name });
  return isMove(version) ? t('movedBy', { name }) : t('editedBy', { name });
}

function Moved({ version, directory }: { version: Version; directory: Directory }) {
  if (!isMove(version)) return null;
  const { prev_stream, stream, prev_topic, topic } = version;
  const nameOf = (channelId: number | undefined, name: string): string =>
    channelId === undefined ? topicName(name) : `#${channelName(directory, channelId)} › ${topicName(name)}`;
  return (
    <dl className="moved">
      <div>
        <dt>{t('movedFrom')}</dt>
        <dd>
          <bdi>{nameOf(prev_stream, prev_topic ?? topic)}</bdi>
        </dd>
      </div>
      <div>
        <dt>{t('movedTo')}</dt>
        <dd>
          <bdi>{nameOf(stream, topic)}</bdi>
        </dd>
      </div>
    </dl>
  );
}

function Text({ version, isFirst }: { version: Version; isFirst: boolean }) {
  if (!isFirst && !isEdit(version)) return null;
  return (
    <Rendered html={isFirst ? version.rendered_content : (version.content_html_diff ?? version.rendered_content)} />
  );
}
