import { type FormEvent, useEffect, useRef, useState } from 'react';
import { mayMoveOut, mayMoveWithin } from '../state/permissions.ts';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { topicRule } from '../state/writing.ts';
import { t } from '../text/text.ts';
import { Check, Field } from './field.tsx';
import { useLeadOn } from './lead-on.ts';
import { Modal } from './modal.tsx';
import { closeAfter, entriesFromNow } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { TopicInput } from './topic-input.tsx';
import { useTask } from './use-task.ts';

const scopes = [
  ['change_one', t('thisMessageAlone')],
  ['change_later', t('thisMessageAndTheLaterOnesOf')],
  ['change_all', t('allMessagesOfTheTopic')],
] as const;
type Scope = (typeof scopes)[number][0];

interface MoveProps {
  place: Place & { kind: 'topic' };
  /** Without a message, all messages of the topic are moved. */
  messageId: number | undefined;
}

/** Moves messages to another topic or channel, or gives a topic another name. */
export default function Move({ place, messageId }: MoveProps) {
  const session = useSession();
  const leadOn = useLeadOn();
  const model = useSelected((state) => state.model);
  const [channelId, setChannelId] = useState(place.channelId);
  const [topic, setTopic] = useState(place.topic);
  const [scope, setScope] = useState<Scope>(messageId === undefined ? 'change_all' : 'change_later');
  const [notifiesNew, setNotifiesNew] = useState(true);
  const [notifiesOld, setNotifiesOld] = useState(false);
  const task = useTask();
  const messageToMove = useMessageToMove(place, messageId);
  const rule = topicRule(model.writing, channelId);
  const name = rule === 'empty_topic_only' ? '' : topic.trim();
  const target = topicPlace(channelId, name);
  const isSame = channelId === place.channelId && topic.trim() === place.topic;
  const isMissing = rule === 'disable_empty_topic' && topic.trim() === '';
  /** Returns true, which distinguishes a move from a dialog that stays open. */
  const move = async (): Promise<true> => {
    await session.client.updateMessage({
      message_id: await messageToMove(),
      propagate_mode: scope,
      ...(name === place.topic ? {} : { topic: name }),
      ...(channelId === place.channelId ? {} : { stream_id: channelId }),
      send_notification_to_new_thread: notifiesNew,
      send_notification_to_old_thread: notifiesOld,
    });
    return true;
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      const isMoved = await closeAfter(move, entriesFromNow());
      const isShown = session.shown !== undefined && keyOf(session.shown.narrow) === keyOf(place);
      // If messages remain in the old topic, the page does not navigate to the new one by itself.
      if (isMoved && isShown && scope !== 'change_one') leadOn(place, target, messageId);
    }, t('saved'));
  };
  return (
    <Modal title={messageId === undefined ? t('moveOrRenameTheTopic') : t('moveMessages')}>
      <form className="stack" onSubmit={submit}>
        {mayMoveOut(model, place) && <ChannelChoice value={channelId} onChange={setChannelId} />}
        {rule !== 'empty_topic_only' && mayMoveWithin(model, place) && (
          <TopicInput
            channelId={channelId}
            value={topic}
            placeholder={rule === 'disable_empty_topic' ? t('required') : t('generalChat')}
            onChange={setTopic}
          />
        )}
        {messageId !== undefined && (
          <fieldset className="stack">
            <legend>{t('scopeOfMove')}</legend>
            {scopes.map(([value, label]) => (
              <label key={value} className="check">
                <input type="radio" name="scope" checked={scope === value} onChange={() => setScope(value)} />
                <span>{label}</span>
              </label>
            ))}
          </fieldset>
        )}
        <Check label={t('saySoInTheNewTopic')} isOn={notifiesNew} onChange={setNotifiesNew} />
        <Check label={t('saySoInTheOldTopic')} isOn={notifiesOld} onChange={setNotifiesOld} />
        <button type="submit" className="primary" disabled={task.isBusy || isSame || isMissing}>
          {t('move')}
        </button>
        <Outcome task={task} />
      </form>
    </Modal>
  );
}

/** Number of messages of a topic that may be deleted while the dialog is open, before the topic is requested again. */
const remembered = 20;

/**
 * The message that is moved. Without one, it is the newest remaining message of the topic at the time when the dialog
 * opened: others may rename the topic while the dialog is open, and leave a notice under the old name.
 */
function useMessageToMove(place: Place, messageId: number | undefined): () => Promise<number> {
  const { actions } = useSession();
  const asked = useRef<Promise<readonly number[]>>(undefined);
  const ask = (): Promise<readonly number[]> => {
    if (asked.current) return asked.current;
    const answer = actions.newestOf(place, remembered);
    // After a failure, the next move repeats the request.
    answer.catch(() => {
      asked.current = undefined;
    });
    asked.current = answer;
    return answer;
  };
  useEffect(() => {
    if (messageId === undefined) void ask();
  }, []);
  return async () => {
    if (messageId !== undefined) return messageId;
    const left = await actions.firstLeft(await ask());
    if (left !== undefined) return left;
    asked.current = undefined;
    const [newest = 0] = await ask();
    return newest;
  };
}

function ChannelChoice({ value, onChange }: { value: number; onChange: (channelId: number) => void }) {
  const channels = useSelected(({ model }) => model.channels);
  const sorted = [...channels.values()].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <Field label={t('channel')}>
      <select value={value} onChange={(event) => onChange(Number(event.target.value))}>
        {sorted.map(({ id, name }) => (
          <option key={id} value={id}>
            #{name}
          </option>
        ))}
      </select>
    </Field>
  );
}
