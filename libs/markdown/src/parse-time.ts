/** The longest times have about 70. The patterns below take time that grows with the square of the length. */
const MAX_LENGTH = 100;
/** A time before the date, which is parsed as if it came after it. */
const CLOCK_FIRST = /^(\d{1,2}(?::\d{2}){1,2}\s*(?:am|pm)?|\d{1,2}\s*(?:am|pm)),?\s+(?:on\s+)?(\S.*)$/i;
const UNIX_SECONDS = /^-?\d{1,12}(?:\.\d{1,6})?$/;
const CLOCK = String.raw`(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?\s*(am|pm)?[\s,]*(z|[a-z]{3,5}|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?)?`;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:(?:t|,?\s+)${CLOCK})?$`, 'i');
const NUMBERS = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:(?:t|,?\s+)${CLOCK})?$`, 'i');
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})?)?(z)?$/i;
const WEEKDAY = String.raw`(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?`;
const MONTH_FIRST = new RegExp(
  String.raw`^${WEEKDAY}([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?:,?\s+(?:at\s+)?${CLOCK})?$`,
  'i',
);
const DAY_FIRST = new RegExp(
  String.raw`^${WEEKDAY}(\d{1,2})(?:st|nd|rd|th)?\s+([a-z]{3,9})\.?,?\s+(\d{4})(?:,?\s+(?:at\s+)?${CLOCK})?$`,
  'i',
);
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** Offsets of named time zones, in minutes east of UTC. */
const ZONES = new Map(
  Object.entries({
    ...{
      z: 0,
      utc: 0,
      gmt: 0,
      wet: 0,
      west: 60,
      bst: 60,
      cet: 60,
      cest: 120,
      eet: 120,
      eest: 180,
      msk: 180,
      sast: 120,
    },
    ...{ wat: 60, cat: 120, eat: 180, pkt: 300, ist: 330, wib: 420, hkt: 480, awst: 480, jst: 540, kst: 540 },
    ...{ acst: 570, acdt: 630, aest: 600, aedt: 660, nzst: 720, nzdt: 780, hst: -600, akst: -540, akdt: -480 },
    ...{ pst: -480, pdt: -420, mst: -420, mdt: -360, cst: -360, cdt: -300, est: -300, edt: -240, ast: -240, adt: -180 },
    ...{ nst: -210, ndt: -150 },
  }),
);

/**
 * Unix seconds, ISO 8601, a date in numbers (month first), or an English one ("Jun 5th 2017, 10:30PM EST"); without a zone it
 * is UTC.
 */
export function parseTime(given: string): Date | undefined {
  const text = given.replace(/[^\S\n]+/g, ' ');
  if (text.length > MAX_LENGTH) return undefined;
  const compact = COMPACT.exec(text);
  if (compact !== null && (compact[4] !== undefined || text.length === 8)) {
    const [, year, monthOfYear, day, hour, minute, second, zone] = compact;
    const found = instant([year, monthOfYear, day].map(Number), [hour, minute, second, undefined, zone]);
    if (found) return found;
  }
  if (UNIX_SECONDS.test(text)) return valid(new Date(Math.floor(Number(text)) * 1000));
  const clockFirst = CLOCK_FIRST.exec(text);
  if (clockFirst) return parseDateAndClock(`${clockFirst[2]} ${clockFirst[1]}`);
  return parseDateAndClock(text);
}

function parseDateAndClock(text: string): Date | undefined {
  const iso = YEAR_FIRST.exec(text);
  if (iso !== null) return instant([iso[1], iso[3], iso[4]].map(Number), iso.slice(5));
  const numbers = NUMBERS.exec(text);
  if (numbers !== null) {
    const [first = 0, second = 0, year = 0] = [numbers[1], numbers[3], numbers[4]].map(Number);
    return instant(first > 12 ? [year, second, first] : [year, first, second], numbers.slice(5));
  }
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null)
    return instant([Number(monthFirst[3]), month(monthFirst[1]), Number(monthFirst[2])], monthFirst.slice(4));
  const dayFirst = DAY_FIRST.exec(text);
  return dayFirst === null
    ? undefined
    : instant([Number(dayFirst[3]), month(dayFirst[2]), Number(dayFirst[1])], dayFirst.slice(4));
}

function month(name = ''): number {
  return MONTHS.findIndex((full) => full.startsWith(name.toLowerCase())) + 1;
}

function instant(date: readonly number[], clock: readonly (string | undefined)[]): Date | undefined {
  const [year = 0, monthOfYear = 0, day = 0] = date;
  const [hourText = '0', minuteText = '0', secondText = '0', half, zone] = clock;
  const hour12 = half === undefined ? undefined : half.toLowerCase();
  let hour = Number(hourText);
  if (hour12 !== undefined && (hour < 1 || hour > 12)) return undefined;
  if (hour12 === 'am' && hour === 12) hour = 0;
  if (hour12 === 'pm' && hour < 12) hour += 12;
  const [minute, second] = [Number(minuteText), Number(secondText)];
  const daysInMonth = new Date(Date.UTC(year, monthOfYear, 0)).getUTCDate();
  if (monthOfYear < 1 || monthOfYear > 12 || day < 1 || day > daysInMonth) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const local = new Date(0);
  local.setUTCFullYear(year, monthOfYear - 1, day);
  local.setUTCHours(hour, minute, second);
  const offsetMinutes = zoneOffset(zone ?? 'utc');
  return offsetMinutes === undefined ? undefined : valid(new Date(local.getTime() - offsetMinutes * 60_000));
}

/** An unknown zone name counts as UTC if it has the form of one; undefined for anything else. */
function zoneOffset(zone: string): number | undefined {
  const name = zone.toLowerCase();
  if (ZONES.has(name)) return ZONES.get(name);
  if (/^[A-Z]{3,5}$/.test(zone)) return 0;
  const match = /^(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?$/.exec(name);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === '-' ? -minutes : minutes;
}

/** Years beyond four digits have no datetime attribute that a client could parse. */
function valid(date: Date): Date | undefined {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : undefined;
}
