import type { Child } from './child.ts';
import type { People } from './seed.ts';

/** The first information for a newcomer: the address, the demo users, and a command that works as pasted. */
export function createDemoTable(url: string, people: People, children: readonly Child[], logFile: string): string {
  const rows = Object.entries(people).map(([name, person]) => [name, person.email, person.password, person.api_key]);
  const table = [['who', 'email', 'password', 'API key'], ...rows].map((row) =>
    row.map((cell, index) => cell.padEnd([15, 32, 14, 32][index] ?? 0)).join(' '),
  );
  const { member } = people;
  return [
    '',
    `  Natter is at ${url}`,
    `  Log in there as ${people.member.email} with the password ${people.member.password}`,
    '',
    ...table.map((line) => `  ${line}`),
    '',
    `  curl -u ${member.email}:${member.api_key} ${url}/api/v1/messages -d type=channel -d to=general -d topic=welcome -d content=Hello`,
    '',
    `  API      ${url}/docs, as data ${url}/openapi.json`,
    `  people   .natter/local.json`,
    `  logs     ${logFile}`,
    ...children.map(
      ({ program, operationsPort }, index) =>
        `  ${index === 0 ? 'metrics' : '       '}  http://127.0.0.1:${operationsPort()}/metrics  ${program}`,
    ),
    '',
  ].join('\n');
}
