import { type Fault, lastsMs, pause } from './fault.ts';
import type { Link } from './proxy.ts';
import type { World } from './world.ts';

export function networkFaults({ proxies }: World, random: () => number): Fault[] {
  const links = proxies.filter(({ index }) => index === 0);
  return links.flatMap(({ program, server }): Fault[] => {
    const both = proxies.filter((other) => other.program === program && other.server === server);
    const one = (): Link => (both[Math.floor(random() * both.length)] as (typeof both)[number]).proxy;
    return [
      {
        name: `partition ${program} / ${server}`,
        kind: 'lasting',
        async cause() {
          const proxy = one();
          proxy.hold();
          await pause(lastsMs);
          proxy.heal();
        },
      },
      {
        name: `half-open ${program} / ${server}`,
        kind: 'lasting',
        async cause() {
          const proxy = one();
          proxy.strand();
          await pause(lastsMs);
          proxy.heal();
        },
      },
    ];
  });
}
