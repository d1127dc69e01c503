import type { ChatEvent, Client } from '@natter/client';
import { expect, test } from 'vitest';
import type { Action } from '../state/state.ts';
import { ChannelList } from './channel-list.ts';

const created = (id: number): ChatEvent => ({ type: 'stream', op: 'create', streams: [{ stream_id: id }] }) as never;

function start() {
  const answers: PromiseWithResolvers<{ streams: { stream_id: number }[] }>[] = [];
  const getChannels = () => {
    const answer = Promise.withResolvers<{ streams: { stream_id: number }[] }>();
    answers.push(answer);
    return answer.promise;
  };
  const actions: Action[] = [];
  const list = new ChannelList({ getChannels } as unknown as Client, (action) => actions.push(action));
  /** Answers the request with this number. */
  const answer = async (index: number, ids: number[] | undefined): Promise<void> => {
    if (ids) answers[index]?.resolve({ streams: ids.map((stream_id) => ({ stream_id })) });
    else answers[index]?.reject(new Error('no network'));
    await new Promise((resolve) => setImmediate(resolve));
  };
  const listed = () =>
    actions.map((one) => one.type === 'listed' && [one.channels.map(({ stream_id }) => stream_id), one.since]);
  return { list, answer, listed, asked: () => answers.length };
}

test('the channels are loaded once, when they are needed, with the events since the request', async () => {
  const { list, answer, listed, asked } = start();
  list.arrived(created(8));
  expect(asked()).toBe(0);
  void list.need();
  void list.need();
  list.arrived(created(9));
  await answer(0, [1]);
  void list.need();
  expect([asked(), listed()]).toEqual([1, [[[1], [created(9)]]]]);
});

test('after a failure they are loaded when they are needed again', async () => {
  const { list, answer, listed, asked } = start();
  const failed = expect(list.need()).rejects.toThrow('no network');
  await answer(0, undefined);
  await failed;
  expect(asked()).toBe(1);
  const loaded = list.need();
  await answer(1, [1]);
  await loaded;
  expect(listed()).toEqual([[[1], []]]);
});

test('after lost events they are loaded again, if they were needed, and an earlier answer is ignored', async () => {
  const { list, answer, listed, asked } = start();
  list.restart();
  expect(asked()).toBe(0);
  void list.need();
  list.restart();
  await answer(0, [1]);
  expect(listed()).toEqual([]);
  await answer(1, [1, 2]);
  list.restart();
  await answer(2, [3]);
  expect(listed()).toEqual([
    [[1, 2], []],
    [[3], []],
  ]);
});

test('after a channel is no longer archived they are loaded again, because the event does not name it', async () => {
  const { list, answer, listed, asked } = start();
  const archived = (value: boolean): ChatEvent =>
    ({ type: 'stream', op: 'update', stream_id: 5, property: 'is_archived', value }) as never;
  list.arrived(archived(false));
  expect(asked()).toBe(0);
  void list.need();
  await answer(0, [1]);
  list.arrived(archived(true));
  expect(asked()).toBe(1);
  list.arrived(archived(false));
  await answer(1, [1, 5]);
  expect(listed().at(-1)).toEqual([[1, 5], []]);
});

test('a page that needs them waits for the load that replaces its own', async () => {
  const { list, answer, listed } = start();
  let isThere = false;
  const need = list.need().then(() => {
    isThere = true;
  });
  list.restart();
  await answer(0, undefined);
  expect(isThere).toBe(false);
  await answer(1, [1]);
  await need;
  expect(listed()).toEqual([[[1], []]]);
});

test('a refresh loads known channels again, once at a time', async () => {
  const { list, answer, listed, asked } = start();
  void list.need();
  await answer(0, [1]);
  void list.refresh();
  void list.refresh();
  await answer(1, [1, 2]);
  expect([asked(), listed().at(-1)]).toEqual([2, [[1, 2], []]]);
});
