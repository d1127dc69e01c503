import { withDeadline } from '@natter/database';
import { afterAll, expect, test } from 'vitest';
import { RenderBudget } from './budget.ts';
import { createRenderer, emptyContext, type RenderLimit } from './index.ts';

// On a busy machine threads start and work slowly, so the wall-clock limits are high; the CPU limit is the usual one.
const hit: RenderLimit[] = [];
const renderer = createRenderer((limit) => hit.push(limit), { waitMs: 60_000, wallMs: 60_000 });
afterAll(() => renderer.close());

let next = 1_000;
/** In a separate realm by default, because the users of a realm share a budget. */
const somebody = (realmId = next++) => ({ realmId, userId: next++ });
const html = async (content: string, author = somebody()): Promise<string> =>
  (await renderer.render(author, content, emptyContext)).html;

/** Expands 1,200 characters to 156,000, which take 15 seconds or more to typeset. */
const macros = `\\def\\a{${'x'.repeat(800)}}${'\\a'.repeat(195)}`;

test('a macro that grows without end is shown as it was typed, and the next formula is typeset', async () => {
  hit.length = 0;
  expect(await html(`before\n$$${macros}$$\n<i>`)).toBe(`<p>before<br>\n$$${macros}$$<br>\n&lt;i&gt;</p>`);
  expect(hit).toEqual(['cpu']);
  expect(await html('$$x$$')).toContain('class="katex"');
});

test('a matrix that would make megabytes is shown as its source', async () => {
  const matrix = `\\begin{matrix}${`${'&'.repeat(90)}\\\\`.repeat(20)}\\end{matrix}`;
  const shown = await html(`$$${matrix}$$`);
  expect(shown).toContain('\\begin{matrix}');
  expect(shown.length).toBeLessThan(20_000);
});

test('many formulas with large output are shown as typed', async () => {
  const content = `$$\\begin{matrix}${'a&'.repeat(90)}\\end{matrix}$$ `.repeat(40);
  expect((await html(content)).length).toBeLessThan(256 * 1024);
});

test.each([
  ['pgsql', '$'],
  ['livescript', '$'],
  ['java', '$'],
])('%s made of %j, whose grammar takes seconds, is shown without colors', async (language, piece) => {
  hit.length = 0;
  const code = piece.repeat(9_900);
  expect(await html(`\`\`\`${language}\n${code}\n\`\`\``)).toContain(`<code>${code}\n</code>`);
  expect(hit).toEqual([]);
});

test('code is highlighted in the render threads', async () => {
  expect(await html('```js\nlet x = 1;\n```')).toContain('<span class="k">let</span>');
});

test('text over a limit keeps its lines and does not mention users', async () => {
  const users = [{ id: 7, name: 'Ann' }];
  const rendered = await renderer.render(somebody(), `@**Ann** <b>\n$$${macros}$$`, { ...emptyContext, users });
  expect(rendered.html).toMatch(/^<p>@\*\*Ann\*\* &lt;b&gt;<br>\n\$\$.def.*<\/p>$/);
  expect(rendered.mentions.userIds).toEqual([]);
});

test.each(['(?:(?:){1000}){1000}', '((a{1000}){1000}){1000}', 'x{1000}'.repeat(140), '(', `${'('.repeat(990)}x`])(
  'the pattern %j is refused',
  async (pattern) => {
    expect(await renderer.isLinkifierPattern(somebody(), pattern)).toBe(false);
  },
);

test('simple patterns are checked without a thread', async () => {
  const withoutThreads = createRenderer(undefined, { threads: 0 });
  const answers = ['#(?P<id>[0-9]+)', '[A-Z]+-\\d+', '(', 'a**', '(?P<id>a)\\1'].map((pattern) =>
    withoutThreads.isLinkifierPattern(somebody(), pattern),
  );
  expect(await Promise.all(answers)).toEqual([true, true, false, false, false]);
  await withoutThreads.close();
});

test('slow linkifiers cost no more than the limit, and light text is rendered without them', async () => {
  const linkifiers = Array.from({ length: 100 }, (_, id) => ({
    id,
    pattern: `(((a?){30}){30}|${'\\pL?'.repeat(id + 200)})=`,
    urlTemplate: 'https://x.test',
  }));
  const { html: shown } = await renderer.render(somebody(), `**b** ${'a '.repeat(900)}`, {
    ...emptyContext,
    linkifiers,
  });
  expect(shown).toContain('<strong>b</strong>');
  const long = await renderer.render(somebody(), `**b** ${'a '.repeat(4_900)}`, { ...emptyContext, linkifiers });
  expect(long.html).toContain('a a a');
});

test('topics get their links in order, whatever the number of topics', async () => {
  const linkifiers = [{ id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://bugs.test/{id}' }];
  const topics = Array.from({ length: 120 }, (_, i) => `fix #${i % 70}`);
  const links = await renderer.topicLinks(somebody(), topics, linkifiers);
  expect(links.map(([link]) => link?.url)).toEqual(topics.map((_, i) => `https://bugs.test/${i % 70}`));
});

test('while one realm sends very slow content, other realms are rendered in turn', async () => {
  const finished: string[] = [];
  const hostile = Array.from({ length: 6 }, () =>
    renderer.render(somebody(66), `$$${macros}$$`, emptyContext).then(() => finished.push('hostile')),
  );
  const others = Array.from({ length: 2 }, () =>
    renderer.render(somebody(2), '$$y$$', emptyContext).then(({ html: shown }) => {
      expect(shown).toContain('class="katex"');
      finished.push('other');
    }),
  );
  await Promise.all([...hostile, ...others]);
  expect(finished.lastIndexOf('other')).toBeLessThan(finished.lastIndexOf('hostile'));
});

test('a user who exceeds the limits uses their own time, then the common time of the realm, but not that of others', () => {
  let now = 0;
  const budget = new RenderBudget(() => now);
  const hostile = { realmId: 1, userId: 1 };
  for (let i = 0; i < 60; i++) if (budget.allows(hostile)) budget.charge(hostile, 100);
  expect(budget.allows(hostile)).toBe(false);
  expect(budget.allows({ realmId: 1, userId: 2 })).toBe(true);
  expect(budget.allows({ realmId: 2, userId: 1 })).toBe(true);
  // A member who used nothing is not affected by the overdrafts of others.
  budget.charge({ realmId: 1, userId: 2 }, 150);
  expect(budget.allows({ realmId: 1, userId: 2 })).toBe(true);
  budget.charge({ realmId: 1, userId: 2 }, 150);
  expect(budget.allows({ realmId: 1, userId: 2 })).toBe(false);
  now += 1_000;
  expect(budget.allows(hostile)).toBe(true);
});

test.each([1_650, 400, 150, 10])('one user with jobs of %d ms leaves every other user their own time', (cpuMs) => {
  let now = 0;
  const budget = new RenderBudget(() => now);
  const refused: number[] = [];
  for (let second = 0; second < 1_800; second++, now += 1_000) {
    for (let i = 0; i < 20; i++)
      if (budget.allows({ realmId: 1, userId: 1 })) budget.charge({ realmId: 1, userId: 1 }, cpuMs);
    const other = { realmId: 1, userId: 2 + (second % 60) };
    if (budget.allows(other)) budget.charge(other, 20);
    else refused.push(second);
  }
  expect(refused).toEqual([]);
});

test('bots use the time of their owner', async () => {
  const limits: RenderLimit[] = [];
  const patient = createRenderer((limit) => limits.push(limit), { waitMs: 60_000, wallMs: 60_000 });
  const [realmId, botOwnerId] = [next++, next++];
  for (let i = 0; i < 4; i++)
    await patient.render({ realmId, userId: next++, botOwnerId }, `$$${macros}$$`, emptyContext);
  expect(limits).toEqual(['cpu', 'cpu', 'cpu', 'budget']);
  await patient.render({ realmId, userId: botOwnerId }, '$$x$$', emptyContext);
  expect(limits.pop()).toBe('budget');
  const others = await patient.render({ realmId, userId: next++ }, '$$x$$', emptyContext);
  expect(others.html).toContain('class="katex"');
  await patient.close();
});

test('all users of a realm together get no more than the render time of a realm', () => {
  let now = 0;
  const budget = new RenderBudget(() => now);
  let usedMs = 0;
  const everybody = (): void => {
    for (let userId = 1; userId <= 500; userId++)
      if (budget.allows({ realmId: 1, userId })) {
        budget.charge({ realmId: 1, userId }, 100);
        usedMs += 100;
      }
  };
  everybody();
  expect(usedMs).toBeLessThanOrEqual(4_100);
  for (let second = 0; second < 60; second++) {
    now += 1_000;
    everybody();
  }
  expect(usedMs).toBeLessThanOrEqual(4_100 + 60 * 200);
  expect(budget.allows({ realmId: 2, userId: 1 })).toBe(true);
});

test('a job that slightly exceeds its time does not end its thread', async () => {
  const limits: RenderLimit[] = [];
  const impatient = createRenderer((limit) => limits.push(limit), {
    cpuMs: 1,
    endAfterCpuMs: 30_000,
    waitMs: 60_000,
    wallMs: 60_000,
  });
  const slow = `\`\`\`yaml\n${`${'- - '.repeat(100)}\n`.repeat(24)}\`\`\``;
  const first = await impatient.render(somebody(), slow, emptyContext);
  expect(first.html).not.toContain('<pre>');
  expect(limits).toEqual(['cpu']);
  let startedThreads = 0;
  const count = (): void => void startedThreads++;
  process.on('worker', count);
  await impatient.render(somebody(), slow, emptyContext);
  await impatient.render(somebody(), '$$x$$', emptyContext);
  process.off('worker', count);
  expect(startedThreads).toBe(0);
  await impatient.close();
});

test('descriptions and profiles show no images of other sites', async () => {
  const url = 'https://a.example/x.png';
  const shown = await renderer.renderTexts(somebody(), [url]);
  expect(shown.get(url)).toBe(`<p><a href="${url}">${url}</a></p>`);
});

test('a text waits for threads that start, as long as its request has time', async () => {
  const limits: RenderLimit[] = [];
  const starting = createRenderer((limit) => limits.push(limit), { waitMs: 1, startMs: 60_000, wallMs: 60_000 });
  const formula = () => starting.render(somebody(), '$$x$$', emptyContext);
  const [late, patient] = await Promise.all([withDeadline(1_000, formula), formula()]);
  expect([late.html, limits]).toEqual(['<p>$$x$$</p>', ['wait']]);
  expect(patient.html).toContain('class="katex"');
  await starting.close();
});
