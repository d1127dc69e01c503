import { append, type Block, block } from './block.ts';
import type { BlockRule } from './block-parser.ts';

interface Borders {
  left: boolean;
  right: boolean;
}

/** A header row, a row of dashes with as many cells, and body rows. */
export const table: BlockRule = (_parser, parent, content) => {
  if (!content.includes('|')) return false;
  const rows = content.split('\n').map((row) => row.replace(/^ +/, '').replace(/(?<! ) +$/, ''));
  const [header = '', separator] = rows;
  if (separator === undefined || !/^[|:\- ]*$/.test(separator)) return false;
  const borders = { left: header.startsWith('|'), right: endsWithBorder(header) };
  const titles = cellsOf(header, borders);
  const columns = cellsOf(separator, borders).map(alignmentOf);
  if (columns.length !== titles.length) return false;
  if (titles.length === 1 && !((borders.left || borders.right) && rows.every(hasBorder))) return false;
  const made = append(parent, block('table'));
  addRow(append(made, block('thead')), 'th', titles, columns);
  const body = append(made, block('tbody'));
  const below = rows.slice(2).map((row) => cellsOf(row, borders));
  for (const cells of below.length === 0 ? [[]] : below) addRow(body, 'td', cells, columns);
  return true;
};

const hasBorder = (row: string): boolean => row.startsWith('|') || endsWithBorder(row);

function endsWithBorder(row: string): boolean {
  return row.endsWith('|') && (/(?<!\\)\\*(?=\|$)/.exec(row)?.[0].length ?? 0) % 2 === 0;
}

function alignmentOf(cell: string): string | undefined {
  const marks = cell.trim();
  const [left, right] = [marks.startsWith(':'), marks.endsWith(':')];
  return left && right ? 'center' : left ? 'left' : right ? 'right' : undefined;
}

function addRow(parent: Block, tag: 'th' | 'td', cells: readonly string[], columns: (string | undefined)[]): void {
  const row = append(parent, block('tr'));
  for (const [i, align] of columns.entries())
    append(row, block(tag, cells[i]?.trim() ?? '', align === undefined ? {} : { style: `text-align: ${align};` }));
}

/** Splits at bars that are neither escaped nor in code. */
function cellsOf(row: string, { left, right }: Borders): string[] {
  let inner = row;
  if ((left || right) && inner.startsWith('|')) inner = inner.slice(1);
  if ((left || right) && endsWithBorder(inner)) inner = inner.slice(0, -1);
  const cells: string[] = [];
  let from = 0;
  let code = '';
  for (const match of inner.matchAll(/\\\\|\\`+|`+|\\\||\|/g)) {
    const [mark] = match;
    if (mark.startsWith('`')) {
      if (code === '' && inner.indexOf(mark, match.index + mark.length) >= 0) code = mark;
      else if (code === mark) code = '';
    } else if (mark === '|' && code === '') {
      cells.push(inner.slice(from, match.index));
      from = match.index + 1;
    }
  }
  return [...cells, inner.slice(from)];
}
