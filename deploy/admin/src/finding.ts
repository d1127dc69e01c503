export interface Finding {
  state: 'ok' | 'warn' | 'FAIL';
  subject: string;
  text: string;
}

export const ok = (subject: string, text: string): Finding => ({ state: 'ok', subject, text });
export const warn = (subject: string, text: string): Finding => ({ state: 'warn', subject, text });
export const fail = (subject: string, text: string): Finding => ({ state: 'FAIL', subject, text });
