import { type Fault, lastsMs, pause } from './fault.ts';
import type { Link } from './proxy.ts';
import type { World } from './world.ts';

export function networkFaults({ proxies }: World, random: () => number): Fault[] {
  const links = proxies.filter(({ index }) => index === 0);
  return links.flatMap(({ program, server }): Fault[] => {
    const both = proxies.filter((other) => other.program === program && other.server === server);
    const fault = (kind: string, begin: (link: Link) => void): Fault => ({
      name: `${kind} ${program} / ${server}`,
      kind: 'lasting',
      async cause() {
        const { proxy } = both[Math.floor(random() * both.length)] as (typeof both)[number];
        begin(proxy);
        await pause(lastsMs);
        proxy.heal();
      },
    });
    return [fault('partition', (link) => link.hold()), fault('half-open', (link) => link.strand())];
  });
}
