/** `npm run audit`: known vulnerabilities of packages, their licences, and images that are not referenced by digest. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { knownUnpinned, unpinnedImages } from './images.ts';
import { installedPackages, isAllowed } from './licences.ts';
import { summaryOf } from './summary.ts';

const root = resolve(import.meta.dirname, '../..');
/** Names of the checks that could not run. */
const skipped: string[] = [];
const problems = [...vulnerabilities(), ...licences(), ...images()];
for (const problem of problems) console.error(problem);
console.log(summaryOf(problems, skipped));
process.exit(problems.length === 0 ? 0 : 1);

/** If the registry has no such endpoint, or is unreachable, the check is skipped. */
function vulnerabilities(): string[] {
  const pnpm = join(root, '.tools', 'node_modules', '.bin', 'pnpm');
  const { stdout, stderr } = spawnSync(pnpm, ['audit', '--json'], { cwd: root, encoding: 'utf8', timeout: 120_000 });
  const report = parsed(stdout);
  if (!report?.metadata?.vulnerabilities) {
    const why = `${stdout ?? ''}${stderr ?? ''}`
      .replace(/[^\w./: -]+/g, ' ')
      .replace(/\s+/g, ' ')
      .slice(0, 200);
    console.log(`vulnerabilities: SKIPPED, the registry did not answer the audit: ${why}`);
    skipped.push('vulnerabilities');
    return [];
  }
  const found = Object.values(report.advisories ?? {});
  console.log(`vulnerabilities: ${found.length} known ones in ${report.metadata.totalDependencies ?? 'all'} packages`);
  return found
    .filter(({ severity }) => severity !== 'info' && severity !== 'low')
    .map(({ module_name, severity, title, url }) => `${module_name}: ${severity}: ${title} ${url}`);
}

interface AuditReport {
  metadata?: { vulnerabilities?: object; totalDependencies?: number };
  advisories?: Record<string, { module_name: string; severity: string; title: string; url: string }>;
}

function parsed(text: string | null): AuditReport | undefined {
  try {
    return JSON.parse(text ?? '') as AuditReport;
  } catch {
    return undefined;
  }
}

function licences(): string[] {
  const packages = installedPackages(join(root, 'node_modules', '.pnpm'));
  console.log(`licences: ${packages.length} installed packages`);
  if (packages.length === 0) return ['licences: no packages are installed'];
  return packages
    .filter(({ name, licence }) => !isAllowed(name, licence))
    .map(({ name, licence }) => `${name}: licence ${licence}`);
}

function images(): string[] {
  const found = unpinnedImages(root);
  console.log(
    `images: ${found.length} without a digest, ${Object.keys(knownUnpinned).length} of them listed with a reason`,
  );
  for (const [image, reason] of Object.entries(knownUnpinned)) console.log(`  ${image}: ${reason}`);
  return [
    ...found
      .filter(({ image }) => !(image in knownUnpinned))
      .map(({ image, file }) => `${file}: ${image} has no digest`),
    ...Object.keys(knownUnpinned)
      .filter((image) => !found.some((one) => one.image === image))
      .map((image) => `${image} is listed as without a digest, but is nowhere`),
  ];
}
