const UNIX_SECONDS = /^-?\d{1,12}(?:\.\d{1,6})?$/;
const CLOCK = String.raw`(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?\s*(am|pm)?\s*(z|utc|gmt|[+-]\d{2}:?\d{2})?`;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:t|\s+)${CLOCK})?$`, 'i');
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

/** Unix seconds, ISO 8601, or an English date ("Jun 5th 2017, 10:30PM"); without a zone it is UTC. */
export function parseTime(text: string): Date | undefined {
  if (UNIX_SECONDS.test(text)) return valid(new Date(Math.floor(Number(text)) * 1000));
  const iso = YEAR_FIRST.exec(text);
  if (iso !== null) return instant(Number(iso[1]), Number(iso[2]), Number(iso[3]), iso.slice(4));
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null)
    return instant(Number(monthFirst[3]), month(monthFirst[1]), Number(monthFirst[2]), monthFirst.slice(4));
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null)
    return instant(Number(dayFirst[3]), month(dayFirst[2]), Number(dayFirst[1]), dayFirst.slice(4));
  return undefined;
}

function month(name = ''): number {
  return MONTHS.findIndex((full) => full.startsWith(name.toLowerCase())) + 1;
}

function instant(year: number, monthOfYear: number, day: number, clock: (string | undefined)[]): Date | undefined {
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
  const offsetMinutes = zoneOffset(zone);
  return valid(new Date(local.getTime() - offsetMinutes * 60_000));
}

function zoneOffset(zone: string | undefined): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}

/** Years beyond four digits have no datetime attribute a client could parse. */
function valid(date: Date): Date | undefined {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : undefined;
}
