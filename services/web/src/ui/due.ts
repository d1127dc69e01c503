import { t } from '../text/text.ts';

const minute = 60_000;

const parts = (date: Date): [string, string] => [
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(padded).join('-'),
  [date.getHours(), date.getMinutes()].map(padded).join(':'),
];
const padded = (value: number): string => String(value).padStart(2, '0');

/** A time as inputs of the type `datetime-local` take it: in the zone of the person. */
export const localInput = (date: Date): string => parts(date).join('T');

/** The time in seconds since 1970; undefined if it is invalid or not in the future. */
export function dueOf(input: string, now: number): number | undefined {
  const time = new Date(input).getTime();
  return time > now ? Math.floor(time / 1_000) : undefined;
}

export interface Choice {
  name: string;
  at: Date;
}

/** Usual times to send or to be reminded. */
export function choicesAt(now: Date): Choice[] {
  const at = (days: number, hour: number): Date => {
    const date = new Date(now);
    date.setDate(date.getDate() + days);
    date.setHours(hour, 0, 0, 0);
    return date;
  };
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  const all = [
    { name: t('inOneHour'), at: new Date(now.getTime() + 60 * minute) },
    { name: t('thisAfternoon'), at: at(0, 15) },
    { name: t('tomorrowMorning'), at: at(1, 9) },
    { name: t('mondayMorning'), at: at(untilMonday, 9) },
  ];
  return all.filter((one) => one.at.getTime() > now.getTime() + 30 * minute);
}
