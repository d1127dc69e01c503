export interface Finding {
  state: 'ok' | 'warn' | 'FAIL';
  subject: string;
  text: string;
  /** The page of the documentation with instructions for this finding. */
  page?: string;
}

/** A check that passed; the page is only for checks that did not. */
export const ok = (subject: string, text: string, _page?: string): Finding => ({ state: 'ok', subject, text });
export const warn = (subject: string, text: string, page?: string): Finding => found('warn', subject, text, page);
export const fail = (subject: string, text: string, page?: string): Finding => found('FAIL', subject, text, page);

const found = (state: Finding['state'], subject: string, text: string, page: string | undefined): Finding => ({
  state,
  subject,
  text,
  ...(page === undefined ? {} : { page }),
});

/** The runbook of an alert. */
export const runbook = (alert: string): string => `docs/operating/runbooks/${alert}.md`;
/** A section of the page about the command. */
export const section = (anchor: string): string => `docs/operating/command.md#${anchor}`;
