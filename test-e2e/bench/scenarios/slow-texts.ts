import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { sendsTo } from './sends.ts';

const longest = 10_000;
const filled = (text: string): string => text.repeat(Math.ceil(longest / text.length)).slice(0, longest);

/** Texts for which renderers are known to take seconds. */
const texts: Record<string, string> = {
  plain: filled('What people say to each other in a day. '),
  'open brackets': filled('['),
  'nested quotes': filled('> '),
  'nested lists': filled('- '),
  'emphasis that never closes': filled('*a **b _c '),
  backticks: Array.from({ length: 139 }, (_, index) => '`'.repeat(index + 1))
    .join(' ')
    .slice(0, longest),
  'links without end': filled('[a](b '),
  'images in links': filled('![a](<b> '),
  mentions: filled('@**nobody** @*nobody* #**nothing>topic** '),
  'half mentions': filled('@**'),
  'emoji names': filled(':smile::'),
  tables: `|${filled('a|').slice(0, 4_900)}\n|${filled('-|').slice(0, 4_900)}\n`,
  math: filled('$$a$$ $$'),
  'fences in fences': filled('```quote\n'),
  addresses: filled('a.b@c.de http://a.b/c?d=e '),
  'almost addresses': filled('http://'),
  dots: filled('a.'),
  timestamps: filled('<time:2020-01-01T00:00:00Z> <time:'),
};

export const slowTexts: Scenario = {
  name: 'slow-texts',
  title: `messages of ${longest.toLocaleString('en')} characters made to be slow, one at a time`,
  async run(bench) {
    const realm = await createRealm(bench, 'slow-texts', 4);
    const channel = await createChannel(bench, realm, 'target', realm.people.slice(0, 2));
    const measurements: Measurement[] = [];
    for (const [name, content] of Object.entries(texts)) {
      const requests = sendsTo(realm, realm.people.slice(2, 3), channel, content.trimEnd());
      await bench.measure({ name, unit: 'send', requests, inFlight: 1, count: 3 });
      measurements.push(await bench.measure({ name, unit: 'send', requests, inFlight: 1, count: bench.sizes.repeats }));
    }
    const [plain, ...bad] = measurements;
    const worst = bad.reduce((a, b) => (a.latency.p95 > b.latency.p95 ? a : b));
    return {
      measurements,
      figures: [
        figure('worst_p95_ms', worst.latency.p95, 'ms'),
        figure('worst_to_plain', worst.latency.p50 / (plain?.latency.p50 ?? 1), '× plain', 'lower'),
      ],
      notes: [`The worst is "${worst.name}".`],
    };
  },
};
