import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));

/** The lines of a text that a plugin of the linter reports. */
function reportedLines(name: string, text: string): number[] {
  const plugin = fileURLToPath(new URL(name, import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), 'natter-lint-'));
  try {
    writeFileSync(
      join(directory, 'biome.json'),
      JSON.stringify({ plugins: [plugin], linter: { rules: { preset: 'none' } } }),
    );
    writeFileSync(join(directory, 'fixture.ts'), text);
    const { stdout } = spawnSync(biome, ['lint', '--reporter=json', 'fixture.ts'], {
      cwd: directory,
      encoding: 'utf8',
    });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { location: { start: { line: number } } }[] };
    return diagnostics.map(({ location }) => location.start.line);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the linter reports casts of the body, of the note and of the fields of an event, and no others', () => {
  const lines = [
    'export const a = (event: any) => event.body.x as number;',
    'export const b = (body: any) => String(body.x);',
    'export const c = (entry: any) => Number(entry.event.body.x);',
    'export const d = (note: any) => (note?.ids ?? []) as number[];',
    'export const e = (event: any) => event.note as object;',
    'export const f = (event: any) => event.person as object;',
    'export const g = (event: any) => show(event.person as unknown as object);',
    'export const h = (event: any) => (event.op === "add" ? event.data : {}) as object;',
    'export const i = (event: any) => ({ ...event.message, flags: event.flags }) as object;',
    'export const j = (event: any) => (event?.ids ?? []) as number[];',
    'export const k = (row: any) => row.settings as object;',
    'export const l = (request: any) => request.body as string;',
    'export const m = (text: string) => Number(text);',
    'export const n = (event: any) => event.target as HTMLElement;',
    'export const o = (event: any) => show(event.person) as string;',
    'export const p = (event: any) => event as object;',
    'export const q = (events: any) => events.list as object;',
    'export const r = (event: any) => [event.id, event.value] as const;',
  ];
  const reported = new Set(reportedLines('event-body.grit', lines.join('\n')));
  expect([...reported].sort((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('the linter reports only those parts of crypto that need a secure context', () => {
  const lines = [
    'export const a = () => crypto.randomUUID();',
    'export const b = () => globalThis.crypto.randomUUID();',
    'export const c = (data: Uint8Array) => crypto.subtle.digest("SHA-256", data);',
    'export const d = () => crypto.getRandomValues(new Uint8Array(16));',
    'export const e = (hint: any) => hint.subtle;',
  ];
  expect(reportedLines('secure-context.grit', lines.join('\n')).sort()).toEqual([1, 2, 3]);
});

test('the linter reports only direct checks for keys of an input method', () => {
  const lines = [
    'export const a = (event: any) => event.isComposing;',
    'export const b = (event: any) => event.nativeEvent.isComposing;',
    'export const c = (event: any) => event.keyCode === 229;',
    'export const d = (event: any) => isOfInputMethod(event.nativeEvent);',
    'export const e = (event: any) => event.key;',
  ];
  expect(reportedLines('input-method.grit', lines.join('\n')).sort()).toEqual([1, 2, 3]);
});

test('the linter reports only reads of the browser clock', () => {
  const lines = [
    'export const a = () => Date.now();',
    'export const b = () => new Date();',
    'export const c = () => new Date(serverNow(state));',
    'export const d = () => performance.now();',
  ];
  expect(reportedLines('server-time.grit', lines.join('\n')).sort()).toEqual([1, 2]);
});

test('the linter reports subscriptions whose callback may throw into the NATS client, and no others', () => {
  const lines = [
    'export const a = (nats: any) => nats.subscribe("a", { callback: () => undefined });',
    'export const b = (bus: any) => bus.subscribe("b", () => undefined);',
    'export const c = (nats: any, log: any) => subscribe(nats, "c", log, () => undefined);',
  ];
  expect(reportedLines('nats-subscribe.grit', lines.join('\n'))).toEqual([1]);
});

test('the linter reports only waits in tests that have their own time limits', () => {
  const lines = [
    'export const a = () => vi.waitFor(() => expect(1).toBe(1));',
    'export const b = () => vi.waitUntil(() => true, 60_000);',
    'export const c = () => expect.poll(() => 1, { timeout: 60_000 }).toBe(1);',
    'export const d = () => expect.poll(() => 1, { interval: 20, timeout: 60_000 }).toBe(1);',
    'export const e = () => expect.poll(() => 1, { interval: 20 }).toBe(1);',
    'export const f = () => expect.poll(() => 1).toBe(1);',
    'export const g = (page: any) => page.waitFor({ timeout: 60_000 });',
  ];
  const text = lines.join('\n');
  expect(reportedLines('waits.grit', text).sort()).toEqual([1, 2]);
  expect(reportedLines('poll-limit.grit', text).sort()).toEqual([3, 4]);
});
