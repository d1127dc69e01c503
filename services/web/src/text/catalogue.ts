import type { texts } from './en.ts';

export type English = typeof texts;
export type Key = keyof English;

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
/** The placeholders of a text. A plural has its placeholders in the form `other`. */
type NamesOf<Entry> = Entry extends { other: infer Text } ? Names<Text> | 'count' : Names<Entry>;

/** The values that a text needs. */
export type Values<K extends Key> = {
  readonly [Name in NamesOf<English[K]>]: English[K] extends string
    ? string | number
    : Name extends 'count'
      ? number
      : string | number;
};

type IsSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsPlural<Entry> = Entry extends string ? false : true;
type Fits<Entry, Source> =
  IsSame<IsPlural<Entry>, IsPlural<Source>> extends true ? IsSame<NamesOf<Entry>, NamesOf<Source>> : false;

/** Keys that a translation lacks, has too many, or that have other placeholders or forms than in English. */
export type Faults<Translation> =
  | { [K in Key]: K extends keyof Translation ? (Fits<Translation[K], English[K]> extends true ? never : K) : K }[Key]
  | Exclude<keyof Translation, Key>;
