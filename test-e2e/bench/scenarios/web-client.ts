import { type RequestMeta, roles, userOperations } from '@natter/contracts';
import { buildWebClient, firstLoadBytes } from '@natter/web/build';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../browsers.ts';
import { latencyOf } from '../../measure/statistics.ts';
import { createChannel } from '../data/channels.ts';
import { fill } from '../data/history.ts';
import { type BenchRealm, createRealm, keptRealm } from '../data/realm.ts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import { type Figure, figure, type Scenario } from '../harness/scenario.ts';
import type { Identity } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const password = 'a password for measurements';
const perSecond = 50;
const daySeconds = 120;
const keystrokes = 400;
const switches = 40;
const logins = 3;

interface Organization extends BenchRealm {
  channels: number[];
  visitor: Identity;
}

export const webClient: Scenario = {
  name: 'web-client',
  title: 'the web client in a browser of the same machine, in a large organization',
  async run(bench) {
    await buildWebClient();
    const realm = await organization(bench);
    await bench.target.restart('gateway');
    // A realm is found by its host, and the port changes with each start.
    const { host, port } = bench.target.address;
    const browser = await openBrowser([`--host-resolver-rules=MAP ${realm.host}:80 ${host}:${port}`]);
    try {
      const { page, figures } = await loggedIn(browser, realm);
      const { people, channels, messages } = bench.sizes.web;
      return {
        figures: [
          figure('first_load_script_kib', firstLoadBytes() / 1024, 'KiB', 'lower'),
          ...figures,
          ...(await switched(page, realm)),
          ...(await typed(bench, page, realm)),
          ...(await scrolled(page)),
          ...(await afterDay(bench, page, realm)),
        ],
        notes: [
          `${people} people, ${channels} channels, all with the visitor, and ${messages} messages. Browser, load and system share the cores.`,
          `A day: ${bench.sizes.web.dayMessages} messages in ${daySeconds} s, while the visitor opens another channel every two seconds.`,
        ],
      };
    } finally {
      await browser.close();
    }
  },
};

async function organization(bench: Bench): Promise<Organization> {
  const { people, channels: count, messages } = bench.sizes.web;
  const name = `web-${people}-${count}-${messages}`;
  const realm = await keptRealm(bench, name, async () => {
    const made = await createRealm(bench, 'web', people);
    const visitor = await addVisitor(bench, made);
    const numbers = Array.from({ length: count }, (_, index) => index);
    const subscribers = [visitor, ...made.people.slice(0, 50)];
    const channels = await inParallel(numbers, 2, (index) =>
      createChannel(bench, made, `channel ${index}`, subscribers),
    );
    await fill(bench, made, channels, { total: messages });
    return { ...made, channels, visitor };
  });
  return realm as Organization;
}

async function addVisitor(bench: Bench, { id, host }: BenchRealm): Promise<Identity> {
  const bus = await bench.operator();
  const meta: RequestMeta = { requestId: 'bench', realmId: id, client: 'bench' };
  const email = `visitor@${host}`;
  const account = { email, full_name: 'Vera Visitor', password, role: roles.member };
  const made = await bus.call(
    userOperations.addPerson,
    { ...account, can_create_users: false, can_change_user_emails: false },
    { meta },
  );
  return { email, ...made };
}

/**
 * From the click on "Log in" until the first message is drawn: the median of logins of browsers without data, after one
 * that finds gateways without data. Returns the page of the last one.
 */
async function loggedIn(browser: Browser, realm: Organization): Promise<{ page: Page; figures: Figure[] }> {
  const times: number[] = [];
  let page = await browser.newPage();
  for (let login = 0; login <= logins; login++) {
    if (login > 0) {
      await page.context().close();
      page = await (await browser.newContext()).newPage();
    }
    const time = await logIn(page, realm);
    if (login > 0) times.push(time);
  }
  return { page, figures: [figure('login_to_messages_ms', latencyOf(times).p50, 'ms', 'lower')] };
}

async function logIn(page: Page, realm: Organization): Promise<number> {
  await page.goto(`http://${realm.host}/`);
  await page.locator('input[name=username]').fill(realm.visitor.email);
  await page.locator('input[name=password]').fill(password);
  const startedAt = Date.now();
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('[data-message]').first().waitFor({ timeout: 60_000 });
  return Date.now() - startedAt;
}

/**
 * Milliseconds from a click on the channel in the sidebar until its messages are drawn. Code for the
 * page is text, because this program has no types of the DOM.
 */
const openChannel = (page: Page, channelId: number): Promise<number> =>
  page.evaluate<number>(`(async () => {
    const link = document.querySelector('a.entry[href="/channel/${channelId}"]');
    const started = performance.now();
    link.click();
    for (;;) {
      await new Promise(requestAnimationFrame);
      const isOpen = location.pathname === '/channel/${channelId}' && document.querySelector('main.conversation [data-message]');
      if (isOpen) break;
      if (performance.now() - started > 30000) throw new Error('channel ${channelId} was not opened');
    }
    return performance.now() - started;
  })()`);

const openedOf = ({ channels }: Organization): number[] => channels.slice(0, switches);

async function switched(page: Page, realm: Organization): Promise<Figure[]> {
  const some = openedOf(realm);
  const first: number[] = [];
  const again: number[] = [];
  for (const id of some) first.push(await openChannel(page, id));
  for (const id of some) again.push(await openChannel(page, id));
  return [
    figure('first_switch_p50_ms', latencyOf(first).p50, 'ms', 'lower'),
    figure('first_switch_p95_ms', latencyOf(first).p95, 'ms', 'lower'),
    figure('switch_p95_ms', latencyOf(again).p95, 'ms', 'lower'),
  ];
}

/** Sends to all channels that the visitor opens, the open one among them. */
const arrivals = (bench: Bench, realm: Organization, rate: number, ms: number) =>
  bench.load.run({
    kind: 'paced',
    address: bench.target.address,
    requests: openedOf(realm).flatMap((channel, index) =>
      sendsTo(realm, realm.people.slice(index, index + 4), channel),
    ),
    perSecond: rate,
    ms,
  });

/**
 * From a key to the frame that shows it, as the browser measures it in steps of 8 ms while messages arrive. Events that
 * took less than 16 ms are not reported.
 */
async function typed(bench: Bench, page: Page, realm: Organization): Promise<Figure[]> {
  await openChannel(page, realm.channels[0] ?? 0);
  await page.evaluate(`window.slow = new Map();
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId > 0) slow.set(interactionId, Math.max(slow.get(interactionId) ?? 0, duration));
    }).observe({ type: 'event', durationThreshold: 16 })`);
  const delay = 50;
  const load = arrivals(bench, realm, perSecond, keystrokes * delay * 1.5);
  await page.locator('#compose').click();
  for (let index = 0; index < keystrokes; index++)
    await page.keyboard.press(index % 6 === 5 ? 'Space' : 'a', { delay });
  const slow = await page.evaluate<number[]>('[...slow.values()]');
  await load;
  await page.locator('#compose').fill('');
  const all = [...Array.from({ length: Math.max(0, keystrokes - slow.length) }, () => 16), ...slow];
  return [
    figure('keystroke_p50_ms', latencyOf(all).p50, 'ms', 'lower'),
    figure('keystroke_p99_ms', latencyOf(all).p99, 'ms', 'lower'),
  ];
}

/** Down from the first unread message of the combined feed, while newer messages are loaded, and back up. */
async function scrolled(page: Page): Promise<Figure[]> {
  await page.evaluate(`document.querySelector('a.entry[href="/"]').click()`);
  await page.locator('[data-message]').first().waitFor();
  await page.evaluate(`window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' })`);
  const firstShown = () =>
    page.evaluate<number>(
      `Math.min(...[...document.querySelectorAll('[data-message]')].map((one) => Number(one.dataset.message)))`,
    );
  await page.locator('.messages').hover();
  const before = await firstShown();
  const scroll = async (by: number): Promise<void> => {
    for (let index = 0; index < 150; index++) {
      await page.mouse.wheel(0, by);
      await page.waitForTimeout(30);
    }
  };
  await scroll(500);
  const below = await firstShown();
  await scroll(-500);
  if (below <= before || (await firstShown()) >= below) throw new Error('the list did not scroll');
  return [figure('longest_task_while_scrolling_ms', await page.evaluate<number>('longest'), 'ms', 'lower')];
}

async function afterDay(bench: Bench, page: Page, realm: Organization): Promise<Figure[]> {
  const load = arrivals(bench, realm, bench.sizes.web.dayMessages / daySeconds, daySeconds * 1_000);
  const some = openedOf(realm);
  const until = Date.now() + daySeconds * 1_000;
  for (let index = 0; Date.now() < until; index++) {
    await openChannel(page, some[index % some.length] ?? 0);
    await page.waitForTimeout(2_000);
  }
  await load;
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return [figure('heap_after_day_mib', usedSize / 2 ** 20, 'MiB', 'lower')];
}
