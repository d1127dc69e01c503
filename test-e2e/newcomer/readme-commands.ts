/** The commands of README.md that a newcomer pastes, in their order. */

export type Command =
  /** Runs to its end. */
  | { kind: 'run'; line: string }
  /** Runs until Ctrl-C. */
  | { kind: 'start'; line: string; of: 'server' | 'poll' | 'bot' }
  /** Is not run, with the reason. */
  | { kind: 'leave'; line: string; why: string };

/** Commands that do not simply end with success. Every other command of the page is run to its end. */
const others: readonly {
  begins: string;
  kind: Exclude<Command['kind'], 'run'>;
  of?: 'server' | 'poll' | 'bot';
  why?: string;
}[] = [
  { begins: 'npm start', kind: 'start', of: 'server' },
  { begins: "curl -u EMAIL:API_KEY 'http://127.0.0.1:9991/api/v1/events?", kind: 'start', of: 'poll' },
  { begins: 'NATTER_EMAIL=EMAIL', kind: 'start', of: 'bot' },
  { begins: 'npm test', kind: 'leave', why: 'it takes 40 minutes, and CI runs it' },
  { begins: 'helm install', kind: 'leave', why: 'it needs a cluster' },
  { begins: 'npm run ts deploy/docker/prepare.ts', kind: 'leave', why: 'it needs a Docker daemon' },
];

export function commandsOf(readme: string): Command[] {
  const lines = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
  return lines.map((text) => {
    const line = text.replace(/\s+#.*$/, '');
    const other = others.find(({ begins }) => line.startsWith(begins));
    if (other?.kind === 'start' && other.of) return { kind: 'start', line, of: other.of };
    if (other?.kind === 'leave') return { kind: 'leave', line, why: other.why ?? '' };
    return { kind: 'run', line };
  });
}

/** The program that the page instructs to save, and the name of its file. */
export function programOf(readme: string): { name: string; text: string } {
  const name = /Save it as `([\w.]+)`/.exec(readme)?.[1];
  const text = /^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1];
  if (name === undefined || text === undefined) throw new Error('README.md has no program to save');
  return { name, text };
}

/** Puts values in place of the words in capitals. */
export function filledIn(line: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce(
    (text, [word, value]) => text.replaceAll(new RegExp(`(?<![A-Z_])${word}(?![A-Z_=])`, 'g'), value),
    line,
  );
}
