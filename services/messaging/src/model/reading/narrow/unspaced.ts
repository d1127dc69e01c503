/**
 * Characters of scripts that are written without spaces between words, or with particles attached: Thai, Lao, Burmese,
 * Khmer, Japanese, Chinese and Korean. The same as in the functions of the migration `030-search.sql`.
 */
const unspaced =
  String.raw`\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f` +
  String.raw`\u3031-\u303c\u3041-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f` +
  String.raw`\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\u{20000}-\u{3ffff}`;

export const unspacedRuns = new RegExp(`[${unspaced}]+`, 'gu');
/** A tag, a character reference, characters without spaces between words, or a word. */
export const piecesOfHtml = new RegExp(
  String.raw`<[^>]*>|&(?:#\w{1,8}|\w{1,32});|[${unspaced}]+|(?:(?![${unspaced}])[\p{L}\p{N}\p{M}])+`,
  'gu',
);
