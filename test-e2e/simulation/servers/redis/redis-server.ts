/** Stand-in for Redis: the commands and the scripts of `libs/event-log/lua` that the services use, each atomic. */
export interface RedisServer {
  readonly runId: string;
  /** Writing commands are refused, as with full memory. */
  refusesWrites: boolean;
  /** Whether the end was reached, and the entries after an id. */
  range(key: string, after: string, count: number): [isAtEnd: boolean, rows: [string, string[]][]];
  /** The entry with this id. */
  xentry(key: string, id: string): [string, string[]][];
  hmget(key: string, ...fields: string[]): (string | null)[];
  /** `isNew`: only if there is no value. */
  set(key: string, value: string, isNew: boolean): void;
  del(...keys: string[]): void;
  append(keys: [string, string], args: (string | number)[]): [string, number, number, number];
  appendEphemeral(keys: [string, string], args: (string | number)[]): number[];
  poll(keys: [string, string], args: [number, string, number]): [string | null, number, string | null];
  /** All data is lost. */
  flush(): void;
  /** Saves a snapshot; the returned function restores it. */
  save(): () => void;
  /** The run id changes, as after a restart. */
  restart(): void;
}

interface Entry {
  number: number;
  n: number;
  fields: string[];
}

interface Data {
  streams: Map<string, Entry[]>;
  hashes: Map<string, Map<string, string>>;
  strings: Map<string, string>;
}

const empty = (): Data => ({ streams: new Map(), hashes: new Map(), strings: new Map() });
const copyOf = ({ streams, hashes, strings }: Data): Data => ({
  streams: new Map([...streams].map(([key, entries]) => [key, [...entries]])),
  hashes: new Map([...hashes].map(([key, hash]) => [key, new Map(hash)])),
  strings: new Map(strings),
});

export function createRedisServer(now: () => number): RedisServer {
  let data = empty();
  let runs = 1;

  const hash = (key: string): Map<string, string> => {
    let found = data.hashes.get(key);
    if (!found) {
      found = new Map();
      data.hashes.set(key, found);
    }
    return found;
  };
  const add = (key: string, entry: Entry): void => {
    const stream = data.streams.get(key) ?? [];
    const last = stream.at(-1);
    if (last && !isAfter(entry, last))
      throw new Error('ERR The ID specified in XADD is equal or smaller than the target stream top item');
    data.streams.set(key, [...stream, entry]);
  };

  const server: RedisServer = {
    get runId() {
      return `run${runs}`;
    },
    refusesWrites: false,

    range(key, after, count) {
      const from = positionOf(after);
      const found = (data.streams.get(key) ?? []).filter((entry) => isAfter(entry, from));
      return [found.length < count, found.slice(0, count).map((entry) => [idOf(entry), entry.fields])];
    },
    xentry: (key, id) =>
      (data.streams.get(key) ?? []).filter((entry) => idOf(entry) === id).map((entry) => [id, entry.fields]),
    hmget: (key, ...fields) => fields.map((field) => data.hashes.get(key)?.get(field) ?? null),
    set(key, value, isNew) {
      if (!isNew || !data.strings.has(key)) data.strings.set(key, value);
    },
    del(...keys) {
      for (const key of keys) {
        data.streams.delete(key);
        data.hashes.delete(key);
        data.strings.delete(key);
      }
    },

    append([stream, meta], args) {
      const [run = '', , , , ...rest] = args.map(String);
      let [last, mark, n] = server.hmget(meta, 'number', 'mark', 'n');
      let before: [number, number] = [0, 0];
      let writer = run;
      if (!data.streams.has(stream)) {
        last = null;
        writer = '';
      }
      for (let at = 0; at < rest.length; at += 5) {
        const [number = '', entryMark = '', previous = '', text = '', signature = ''] = rest.slice(at, at + 5);
        if (last && Number(number) <= Number(last)) {
          if (Number(number) === Number(last) && entryMark !== mark) return ['conflict', Number(number), 0, 0];
          continue;
        }
        if (last && Number(number) > Number(last) + 1) return ['gap', Number(last), 0, 0];
        if (last && previous !== mark) return ['conflict', Number(number), 0, 0];
        add(stream, { number: Number(number), n: 0, fields: ['m', entryMark, 'd', text, 's', signature] });
        if (last && n) before = [Number(last), Number(n)];
        n = null;
        [last, mark] = [number, entryMark];
        const fields = hash(meta);
        for (const [name, value] of [
          ['number', number],
          ['mark', entryMark],
          ['n', '0'],
          ['run', writer],
        ] as const)
          fields.set(name, value);
      }
      return ['ok', Number(last ?? 0), ...before];
    },

    appendEphemeral([stream, meta], args) {
      const [run = '', most = 0, text = '', signature = ''] = args.map(String);
      const [number, mark, n, writer] = server.hmget(meta, 'number', 'mark', 'n', 'run');
      if (!number || writer !== run || Number(n) >= Number(most)) return [0];
      const next = Number(n) + 1;
      hash(meta).set('n', String(next));
      add(stream, { number: Number(number), n: next, fields: ['m', mark ?? '', 'd', text, 's', signature] });
      return [Number(number), next, Number(mark)];
    },

    poll([queue, polls], [userId, by]) {
      const record = data.strings.get(queue) ?? null;
      if (record === null || (JSON.parse(record) as { user_id: number }).user_id !== userId) return [record, 0, null];
      const [last, lastBy] = server.hmget(polls, 'number', 'by');
      const number = Math.max(Math.floor(now() * 1_000), Number(last ?? 0) + 1);
      hash(polls).set('number', String(number)).set('by', by);
      return [record, number, lastBy ?? null];
    },

    flush: () => {
      data = empty();
    },
    save() {
      const saved = copyOf(data);
      return () => {
        data = copyOf(saved);
      };
    },
    restart: () => {
      runs++;
    },
  };
  return server;
}

const idOf = ({ number, n }: Entry): string => `${number}-${n}`;
const isAfter = (a: { number: number; n: number }, b: { number: number; n: number }): boolean =>
  a.number > b.number || (a.number === b.number && a.n > b.n);

function positionOf(text: string): { number: number; n: number } {
  const [number = '0', n = '0'] = text.split('-');
  return { number: Number(number), n: Number(n) };
}
