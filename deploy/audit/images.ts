import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const noRegistry = 'no container registry could be reached to read its digest; give one with the digest in operation';

/** Images that are referenced without a digest, with the reason. A digest is never guessed. */
export const knownUnpinned: Readonly<Record<string, string>> = {
  'gcr.io/distroless/cc-debian12:nonroot': noRegistry,
  'postgres:17': noRegistry,
  'postgres:18': noRegistry,
  'redis:7': noRegistry,
  'nats:2': noRegistry,
  'prom/prometheus:latest': noRegistry,
  'ghcr.io/natter-chat/natter': 'installations name the digest of their release with image.digest',
  'natter:local': 'built on the same machine from this tree',
};

/** Where images are referenced: files of the deployment, and the pattern of the lines. */
const places: readonly [file: RegExp, image: RegExp][] = [
  [/compose\.yaml$/, /^\s*image:\s*(?:\$\{\w+:-)?([^\s}]+)/gm],
  [/Dockerfile$/, /^(?:FROM|ARG BASE=)\s*([^\s$]+)$/gm],
  [/helm\/natter\/values\.yaml$/, /^\s*(?:\w+Image|repository):\s*(\S+)/gm],
  [/local\/(?:nats|redis|postgres)\.ts$/, /_IMAGE \?\? '([^']+)'/g],
];

export function unpinnedImages(root: string): { image: string; file: string }[] {
  const deploy = join(root, 'deploy');
  return filesOf(deploy).flatMap((file) =>
    places.flatMap(([pattern, image]) => {
      if (!pattern.test(file)) return [];
      const names = [...readFileSync(file, 'utf8').matchAll(image)].map((match) => match[1] ?? '');
      return names
        .filter((name) => !/@sha256:[0-9a-f]{64}$/.test(name))
        .map((name) => ({ image: name, file: relative(root, file) }));
    }),
  );
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesOf(path) : [path];
  });
}
