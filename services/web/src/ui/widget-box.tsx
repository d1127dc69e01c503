import { listText, numberText, t } from '../text/text.ts';
import { Phrase } from './phrase.tsx';
import './widget-box.css';
import { type ReactNode, useId, useMemo, useRef, useState } from 'react';
import type { Message } from '../state/place.ts';
import { type Addition, type Poll, type Todo, type Widget, widgetOf } from '../state/widgets.ts';
import { keptField, useKept } from './kept-fields.ts';
import { personName } from './names.ts';
import { useDirectory, useSession } from './session-context.tsx';

interface WidgetProps<W extends Widget> {
  messageId: number;
  widget: W;
  isAuthor: boolean;
  add: (addition: Addition) => Promise<boolean>;
}

/** A poll or a list of tasks, which every reader of the message changes. Without one, the message has its text. */
export default function WidgetBox({ message, children }: { message: Message; children: ReactNode }) {
  const session = useSession();
  const { ownId } = useDirectory();
  const widget = useMemo(() => widgetOf(message, ownId), [message, ownId]);
  if (!widget) return children;
  const isAuthor = message.sender_id === ownId;
  const add = (addition: Addition): Promise<boolean> => session.actions.addToWidget(message.id, addition);
  return widget.kind === 'poll' ? (
    <PollBox messageId={message.id} widget={widget} isAuthor={isAuthor} add={add} />
  ) : (
    <TodoBox messageId={message.id} widget={widget} isAuthor={isAuthor} add={add} />
  );
}

function PollBox({ messageId, widget, isAuthor, add }: WidgetProps<Poll>) {
  const directory = useDirectory();
  const { question, options, nextIndex } = widget;
  const offer = (option: string): Promise<boolean> => {
    if (options.some(({ text }) => text === option) || nextIndex === undefined) return Promise.resolve(true);
    return add({ type: 'new_option', option, idx: nextIndex });
  };
  return (
    <Frame
      messageId={messageId}
      kind={t('poll')}
      title={question}
      untitled={t('pollWithoutAQuestion')}
      change={
        isAuthor
          ? {
              label: t('question'),
              name: t('changeTheQuestion'),
              action: t('saveQuestion'),
              save: (text) => add({ type: 'question', question: text }),
            }
          : undefined
      }
    >
      {options.length === 0 && <p className="hint">{t('thereAreNoOptionsYet')}</p>}
      <ul>
        {options.map(({ key, text, voters }) => {
          const isChosen = voters.includes(directory.ownId);
          return (
            <li key={key}>
              <button
                type="button"
                className="vote"
                aria-pressed={isChosen}
                onClick={() => void add({ type: 'vote', key, vote: isChosen ? -1 : 1 })}
              >
                <span className="votes">
                  <Phrase short={numberText(voters.length)} full={`${t('votes', { count: voters.length })} `} />
                </span>
                <bdi>{text}</bdi>
              </button>
              {voters.length > 0 && <Voters names={voters.map((id) => nameOf(directory, id))} />}
            </li>
          );
        })}
      </ul>
      {nextIndex !== undefined && (
        <AddForm keptAs={`${messageId} add`} label={t('newOption')} fullAction={t('addNewOption')} onAdd={offer} />
      )}
    </Frame>
  );
}

const shownVoters = 12;

const nameOf = (directory: ReturnType<typeof useDirectory>, id: number): string =>
  id === directory.ownId ? t('you') : personName(directory, id);

function Voters({ names }: { names: readonly string[] }) {
  const more = names.length - shownVoters;
  return (
    <bdi className="voters">
      {listText(more > 0 ? [...names.slice(0, shownVoters), t('morePeople', { count: more })] : names)}
    </bdi>
  );
}

function TodoBox({ messageId, widget, isAuthor, add }: WidgetProps<Todo>) {
  const { title, tasks, nextIndex } = widget;
  const put = (task: string, desc: string): Promise<boolean> => {
    if (tasks.some((one) => one.task === task) || nextIndex === undefined) return Promise.resolve(true);
    return add({ type: 'new_task', key: nextIndex, task, desc, completed: false });
  };
  return (
    <Frame
      messageId={messageId}
      kind={t('tasks')}
      title={title}
      untitled={t('tasks')}
      change={
        isAuthor
          ? {
              label: t('taskListTitle'),
              name: t('changeTheTitle'),
              action: t('saveTitle'),
              save: (text) => add({ type: 'new_task_list_title', title: text }),
            }
          : undefined
      }
    >
      {tasks.length === 0 && <p className="hint">{t('thereAreNoTasksYet')}</p>}
      <ul>
        {tasks.map(({ key, task, detail, isDone }) => (
          <li key={key}>
            <label className="task" data-done={isDone}>
              <input type="checkbox" checked={isDone} onChange={() => void add({ type: 'strike', key })} />
              <span>
                <bdi>{task}</bdi>
                {detail !== '' && (
                  <span className="faint">
                    {': '}
                    <bdi>{detail}</bdi>
                  </span>
                )}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {nextIndex !== undefined && (
        <AddForm
          keptAs={`${messageId} add`}
          label={t('newTask')}
          fullAction={t('addNewTask')}
          detail={t('description')}
          onAdd={put}
        />
      )}
    </Frame>
  );
}

interface Change {
  label: string;
  /** The full names of the buttons. */
  name: string;
  action: string;
  save: (text: string) => Promise<boolean>;
}
interface FrameProps {
  messageId: number;
  kind: string;
  title: string;
  untitled: string;
  /** Absent for readers who may not change the title. */
  change: Change | undefined;
  children: ReactNode;
}

function Frame({ messageId, kind, title, untitled, change, children }: FrameProps) {
  const [isChanging, setChanging] = useKept<boolean>(`${messageId} changing`, false);
  const id = useId();
  return (
    <section className="widget" aria-labelledby={id}>
      <header>
        <h3 id={id} dir="auto">
          <span className="hidden">{kind}: </span>
          {title || untitled}
        </h3>
        {change && (
          <button type="button" className="plain" aria-expanded={isChanging} onClick={() => setChanging(!isChanging)}>
            <Phrase short={t('change')} full={change.name} />
          </button>
        )}
      </header>
      {change && isChanging && (
        <AddForm
          keptAs={`${messageId} change`}
          label={change.label}
          action={t('save')}
          fullAction={change.action}
          initial={title}
          onAdd={change.save}
          onDone={() => setChanging(false)}
        />
      )}
      {children}
    </section>
  );
}

const longest = 500;

interface AddFormProps {
  /** The name under which the texts are kept while the row of the message is off the screen. */
  keptAs: string;
  label: string;
  /** The label of a second, optional text. */
  detail?: string;
  action?: string;
  /** The action with its object. */
  fullAction: string;
  initial?: string;
  /** Returns whether it was added. */
  onAdd: (text: string, detail: string) => Promise<boolean>;
  /** Called after the text was added, unless another text was typed meanwhile. */
  onDone?: () => void;
}

function AddForm({ keptAs, label, detail, action = t('add'), fullAction, initial = '', onAdd, onDone }: AddFormProps) {
  const [text, setText] = useKept<string>(keptAs, initial);
  const [more, setMore] = useKept<string>(`${keptAs} more`, '');
  const [isBusy, setBusy] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const submit = async (): Promise<void> => {
    setBusy(true);
    const isAdded = await onAdd(text.trim(), more.trim());
    setBusy(false);
    if (!isAdded) return;
    // Text that was typed meanwhile is kept.
    if ((box.current?.value ?? text) === text) onDone?.();
    if ((keptField(keptAs) ?? initial) === text) setText('');
    if (keptField(`${keptAs} more`) === more) setMore('');
  };
  return (
    <form
      className="widget-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !isBusy) void submit();
      }}
    >
      <input
        ref={box}
        aria-label={label}
        placeholder={label}
        maxLength={longest}
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {detail !== undefined && (
        <input
          aria-label={t('descriptionOfTheTask')}
          placeholder={detail}
          maxLength={longest}
          dir="auto"
          value={more}
          onChange={(event) => setMore(event.target.value)}
        />
      )}
      <button type="submit" className="plain" disabled={text.trim() === '' || isBusy}>
        <Phrase short={action} full={fullAction} />
      </button>
    </form>
  );
}
