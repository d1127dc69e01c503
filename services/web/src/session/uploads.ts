import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { problemOf } from './problem.ts';
import { type Uploaded, upload } from './upload.ts';

export interface Upload {
  id: number;
  name: string;
  size: number;
  sent: number;
  problem: string | undefined;
  request: AbortController;
}

/** The compose box of a conversation. Without a place, its text stays in this browser. */
export interface DraftBox {
  key: string;
  place: Place | undefined;
  /** Adds a file to the text while it is not on screen, if it is not that of a compose box. */
  append?: (uploaded: Uploaded) => void;
}

interface Options {
  /** Maximum size of a file; 0 for no limit. */
  maxMebibytes: () => number;
  /** Adds a file to a draft that is not on screen. */
  append: (draft: DraftBox, uploaded: Uploaded) => void;
  send?: typeof upload;
}

/** An upload whose link is still to come. */
interface Expected {
  /** The box that gets the link. */
  draft: DraftBox;
  /** The same number for files that were chosen together. */
  choice: number;
  /** The file is on the server, and its link waits for those of the files before it. */
  uploaded?: Uploaded;
}

const mebibyte = 1024 * 1024;
const none: readonly Upload[] = [];

/** Files on their way, by draft or edit. They go on while another conversation is on screen; each becomes a link in the draft. */
export class Uploads {
  readonly #options: Options;
  readonly #byDraft = new Map<string, readonly Upload[]>();
  /** The compose boxes on screen, by draft: a link that is put into a box can be undone. */
  readonly #boxes = new Map<string, (uploaded: Uploaded) => void>();
  readonly #listeners = new Set<() => void>();
  /** The uploads whose links are still to come, in the order in which the files were chosen. */
  readonly #expected = new Map<number, Expected>();
  #lastId = 0;
  #lastChoice = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  of(key: string): readonly Upload[] {
    return this.#byDraft.get(key) ?? none;
  }

  /** While the box of a draft is on screen, its links go there. */
  insertInto(key: string, insert: (uploaded: Uploaded) => void): () => void {
    this.#boxes.set(key, insert);
    return () => {
      if (this.#boxes.get(key) === insert) this.#boxes.delete(key);
    };
  }

  add(draft: DraftBox, files: readonly File[]): void {
    const choice = ++this.#lastChoice;
    const begun = files.map((file) => this.#begin(draft, choice, file));
    this.#set(draft.key, [...this.of(draft.key), ...begun]);
  }

  /** The messages of a conversation are elsewhere now: files on their way to its draft go along. */
  carry(from: string, to: DraftBox): void {
    const moving = this.of(from);
    if (moving.length === 0 || from === to.key) return;
    for (const { id } of moving) {
      const expected = this.#expected.get(id);
      if (expected) expected.draft = to;
    }
    this.#set(from, []);
    this.#set(to.key, [...this.of(to.key), ...moving]);
  }

  remove(key: string, one: Upload): void {
    one.request.abort();
    const choice = this.#expected.get(one.id)?.choice;
    this.#drop(key, one);
    this.#insertFinished(choice);
  }

  /** The text is given up. */
  removeAll(key: string): void {
    for (const one of this.of(key)) {
      one.request.abort();
      this.#drop(key, one);
    }
  }

  /** Whether a file is on its way to any text. */
  get isBusy(): boolean {
    return this.#expected.size > 0;
  }

  #drop(key: string, { id }: Pick<Upload, 'id'>): void {
    this.#expected.delete(id);
    const left = this.of(key).filter((one) => one.id !== id);
    this.#set(key, left);
  }

  #begin(draft: DraftBox, choice: number, file: File): Upload {
    const { maxMebibytes, send = upload } = this.#options;
    const limit = maxMebibytes();
    const isTooLarge = limit > 0 && file.size > limit * mebibyte;
    const one: Upload = {
      id: ++this.#lastId,
      name: file.name,
      size: file.size,
      sent: 0,
      problem: isTooLarge ? t('fileTooLarge', { limit }) : undefined,
      request: new AbortController(),
    };
    if (isTooLarge) return one;
    const expected: Expected = { draft, choice };
    this.#expected.set(one.id, expected);
    const { signal } = one.request;
    const change = (by: Partial<Upload>): void => {
      const { key } = expected.draft;
      this.#set(
        key,
        this.of(key).map((other) => (other.id === one.id ? { ...other, ...by } : other)),
      );
    };
    send(file, { signal, onProgress: (sent) => change({ sent }) }).then(
      (uploaded) => {
        if (signal.aborted) return;
        expected.uploaded = uploaded;
        this.#insertFinished(choice);
      },
      (error: unknown) => {
        if (signal.aborted) return;
        this.#expected.delete(one.id);
        change({ problem: problemOf(error) });
        this.#insertFinished(choice);
      },
    );
    return one;
  }

  /** Inserts the links of files that were chosen together, up to the first file that is still on its way. */
  #insertFinished(choice: number | undefined): void {
    for (const [id, expected] of [...this.#expected]) {
      if (expected.choice !== choice) continue;
      const { draft, uploaded } = expected;
      if (!uploaded) return;
      this.#drop(draft.key, { id });
      const insert = this.#boxes.get(draft.key);
      if (insert) insert(uploaded);
      else if (draft.append) draft.append(uploaded);
      else this.#options.append(draft, uploaded);
    }
  }

  #set(key: string, all: readonly Upload[]): void {
    if (all.length > 0) this.#byDraft.set(key, all);
    else this.#byDraft.delete(key);
    for (const listener of this.#listeners) listener();
  }
}

/** The link to a file, after a text. The name may contain signs of links. */
export function linkAfter(text: string, { filename, url }: Uploaded): string {
  const before = text === '' || /\s$/.test(text) ? '' : '\n';
  return `${before}[${filename.replace(/[[\]\\`\n]/g, ' ')}](${url})\n`;
}
