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
  'prom/node-exporter:latest': noRegistry,
  'grafana/grafana:latest': noRegistry,
  'caddy:2': noRegistry,
  'ghcr.io/natter-chat/natter': 'installations name the digest of their release with image.digest',
  'natter:local': 'built on the same machine from this tree',
};

/** The files that reference images, each with a function that returns the names of the images in its text. */
const places: readonly [file: RegExp, namesIn: (text: string) => string[]][] = [
  [/compose\.yaml$|helm\/natter\/(?:values|templates\/.*)\.yaml$/, inYaml],
  [/Dockerfile$/, inDockerfile],
  [/local\/(?:nats|redis|postgres)\.ts$/, (text) => all(text, /_IMAGE \?\? '([^']+)'/g)],
];

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

/** Values of `image`, `…Image` and `repository`; of a variable its default. A template names values. */
function inYaml(text: string): string[] {
  return all(text, /^\s*(?:-\s+)?(?:image|\w+Image|repository):[ \t]+["']?(?:\$\{\w+:-)?([^\s}"'{#$]+)/gm);
}

/** Images that stages begin with, directly or by an argument, and those that files are copied from; not earlier stages. */
function inDockerfile(text: string): string[] {
  const stages = new Set(all(text, /^FROM\s.*\sAS\s+(\S+)\s*$/gim));
  const from = all(text, /^FROM\s+(?:--\S+\s+)*(\S+)/gim);
  const copied = all(text, /^(?:COPY|ADD)\s.*--from=(\S+)/gim).filter((name) => !/^\d+$/.test(name));
  return [...from, ...copied]
    .flatMap((name) => {
      const variable = /^\$\{?(\w+)\}?$/.exec(name)?.[1];
      return variable === undefined ? [name] : all(text, new RegExp(`^ARG\\s+${variable}=(\\S+)`, 'gim'));
    })
    .filter((name) => name !== 'scratch' && !stages.has(name));
}

export function unpinnedImages(root: string): { image: string; file: string }[] {
  const deploy = join(root, 'deploy');
  return filesOf(deploy).flatMap((file) =>
    places.flatMap(([pattern, namesIn]) => {
      if (!pattern.test(file)) return [];
      return namesIn(readFileSync(file, 'utf8'))
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
