/** Writes docs/operating/chart-values.md: `npm run ts deploy/helm/values-page.ts` */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

export type Values = Record<string, unknown>;
export interface RefusedValues {
  values: Values;
  /** A part of what helm 3 prints. */
  refusal: string;
}

const read = (name: string): unknown => parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
export const refused = read('refused-values.yaml') as Record<string, RefusedValues[]>;
export const accepted = read('accepted-values.yaml') as Record<string, Values[]>;

/** YAML on one line, as `helm -f` reads it (YAML 1.1: "yes" is a text only in quotes). */
export const oneLine = (values: Values): string =>
  stringify(values, { version: '1.1', collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trim();

export const pageFile = join(import.meta.dirname, '..', '..', 'docs', 'operating', 'chart-values.md');

export function page(): string {
  const tables = Object.entries(refused).map(([section, rows]) =>
    [
      `## ${section}`,
      '',
      '| Values | Refused with |',
      '| --- | --- |',
      ...rows.map(({ values, refusal }) => `| ${cell(oneLine(values))} | ${cell(refusal)} |`),
      '',
    ].join('\n'),
  );
  return [introduction(Object.values(refused).flat().length), ...tables].join('\n');
}

const cell = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

const introduction = (count: number): string => `# Values that the chart refuses

Made by \`npm run ts deploy/helm/values-page.ts\` from \`deploy/helm/refused-values.yaml\`; a test renders the chart with each of the ${count} values below.

\`helm install\`, \`upgrade\`, \`template\` and \`lint\` check all values before anything reaches the cluster: first against
\`values.schema.json\`, then, for what a schema can't say (one value above another, a value that needs another), in
\`templates/_checks.tpl\`, which lists every fault it finds. \`helm lint\` applies the schema alone.

The refusals are those of helm 3; helm 4 words refusals of the schema differently
(\`at '/services/users/replicas': got string, want integer\`). \`null\` removes a value of \`values.yaml\`, so a value that the chart
needs is then required. These checks know neither the cluster nor its policies: they can't see that a Secret, a
StorageClass or a PriorityClass is missing.
`;

if (process.argv[1] === import.meta.filename) writeFileSync(pageFile, page());
