/** The closing line of the audit. A skipped check has found nothing, which does not mean that there is nothing. */
export function summaryOf(problems: readonly string[], skipped: readonly string[]): string {
  const found = problems.length === 0 ? 'nothing found' : count(problems.length, 'problem');
  return `audit: ${found}${skipped.length === 0 ? '' : `, ${count(skipped.length, 'check')} SKIPPED: ${skipped.join(', ')}`}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
