import type { Message } from './place.ts';

/** A poll or a list of tasks: the text of its message, and the additions of readers. No text is trusted. */
export type Widget = Poll | Todo;

export interface Poll {
  kind: 'poll';
  question: string;
  options: readonly { key: string; text: string; voters: readonly number[] }[];
  /** The index of the next option that a reader adds; undefined if there can be no more. */
  nextIndex: number | undefined;
}

export interface Todo {
  kind: 'todo';
  title: string;
  tasks: readonly { key: string; task: string; detail: string; isDone: boolean }[];
  nextIndex: number | undefined;
}

/** A reader's addition to a widget, in the form of the API. */
export type Addition =
  | { type: 'vote'; key: string; vote: 1 | -1 }
  | { type: 'new_option'; option: string; idx: number }
  | { type: 'question'; question: string }
  | { type: 'new_task'; key: number; task: string; desc: string; completed: false }
  | { type: 'strike'; key: string }
  | { type: 'new_task_list_title'; title: string };

/** The server refuses higher ones. */
const maxIndex = 1_000;
/** Options or tasks that are shown. One message has room for tens of thousands, which would hold up its readers. */
const maxShown = 1_000;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The widget of a message for a reader; undefined if it has none that this client knows. */
export function widgetOf({ submessages, sender_id }: Message, ownId: number): Widget | undefined {
  const [first, ...rest] = submessages.filter(({ msg_type }) => msg_type === 'widget').sort((a, b) => a.id - b.id);
  const { widget_type, extra_data } = first ? parsed(first.content) : {};
  const given = fieldsOf(extra_data);
  const added = rest.map((one) => ({
    by: one.sender_id,
    isAuthor: one.sender_id === sender_id,
    ...dataOf(one.content),
  }));
  if (widget_type === 'poll') return pollOf(given, added, ownId);
  return widget_type === 'todo' ? todoOf(given, added, ownId) : undefined;
}

interface Added {
  by: number;
  isAuthor: boolean;
  data: Fields;
}

const dataOf = (content: string): { data: Fields } => ({ data: parsed(content) });

const indexOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxIndex ? value : undefined;

function following(used: readonly number[]): number | undefined {
  const next = Math.max(-1, ...used) + 1;
  return next <= maxIndex ? next : undefined;
}

function pollOf(given: Fields, added: readonly Added[], ownId: number): Poll {
  let question = textOf(given.question);
  const options = new Map<string, { text: string; voters: Set<number> }>();
  const own: number[] = [];
  const texts = new Set(['']);
  const offer = (key: string, text: string): void => {
    if (options.size >= maxShown || options.has(key) || texts.has(text)) return;
    texts.add(text);
    options.set(key, { text, voters: new Set() });
  };
  for (const [index, text] of listOf(given.options).entries()) offer(`canned,${index}`, textOf(text));
  for (const { by, isAuthor, data } of added) {
    const index = indexOf(data.idx);
    if (data.type === 'question' && isAuthor) question = textOf(data.question);
    else if (data.type === 'new_option' && index !== undefined) {
      offer(`${by},${index}`, textOf(data.option));
      if (by === ownId) own.push(index);
    } else if (data.type === 'vote') {
      const voters = options.get(textOf(data.key))?.voters;
      if (data.vote === 1) voters?.add(by);
      else voters?.delete(by);
    }
  }
  const listed = [...options].map(([key, { text, voters }]) => ({ key, text, voters: [...voters] }));
  return { kind: 'poll', question, options: listed, nextIndex: following(own) };
}

function todoOf(given: Fields, added: readonly Added[], ownId: number): Todo {
  let title = textOf(given.task_list_title);
  const tasks = new Map<string, { task: string; detail: string; isDone: boolean }>();
  const own: number[] = [];
  const names = new Set(['']);
  const put = (key: string, { task, desc, completed }: Fields): void => {
    const name = textOf(task);
    if (tasks.size >= maxShown || tasks.has(key) || names.has(name)) return;
    names.add(name);
    tasks.set(key, { task: name, detail: textOf(desc), isDone: completed === true });
  };
  for (const [index, one] of listOf(given.tasks).entries()) put(`${index},canned`, fieldsOf(one));
  for (const { by, isAuthor, data } of added) {
    const index = indexOf(data.key);
    if (data.type === 'new_task_list_title' && isAuthor) title = textOf(data.title);
    else if (data.type === 'new_task' && index !== undefined) {
      put(`${index},${by}`, data);
      if (by === ownId) own.push(index);
    } else if (data.type === 'strike') {
      const key = textOf(data.key);
      const task = tasks.get(key);
      if (task) tasks.set(key, { ...task, isDone: !task.isDone });
    }
  }
  return { kind: 'todo', title, tasks: [...tasks].map(([key, one]) => ({ key, ...one })), nextIndex: following(own) };
}
