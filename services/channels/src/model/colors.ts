import { badRequest } from '@natter/contracts';

const palette = [
  '#76ce90',
  '#fae589',
  '#a6c7e5',
  '#e79ab5',
  '#bfd56f',
  '#f4ae55',
  '#b0a5fd',
  '#addfe5',
  '#f5ce6e',
  '#c2726a',
  '#94c849',
  '#bd86e5',
  '#ee7e4a',
  '#a6dcbf',
  '#95a5fd',
  '#53a063',
  '#9987e1',
  '#e4523d',
  '#c2c2c2',
  '#4f8de4',
  '#c6a8ad',
  '#e7cc4d',
  '#c8bebf',
  '#a47462',
] as const;

/** Takes the least used colour of the palette, and counts its use. */
export function takeColor(used: Map<string, number>): string {
  let best: string = palette[0];
  for (const color of palette) if ((used.get(color) ?? 0) < (used.get(best) ?? 0)) best = color;
  used.set(best, (used.get(best) ?? 0) + 1);
  return best;
}

/** The colour as `#rrggbb` in lower case, which clients parse. */
export function checkedColor(color: string): string {
  if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(color)) throw badRequest('color is not a valid hex color code');
  const digits = color.slice(1).toLowerCase();
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`;
}
