/** Functions with which tests find rendered objects. */
import type { KubernetesObject } from './render.ts';

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are checked field by field.
type Any = any;

const workloadKinds = ['Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod'];
export const isWorkload = ({ kind }: KubernetesObject): boolean => workloadKinds.includes(kind);
export const podOf = ({ kind, spec }: KubernetesObject): Any => {
  if (kind === 'Pod') return spec;
  return (kind === 'CronJob' ? spec.jobTemplate.spec : spec).template.spec;
};
export const of = (objects: KubernetesObject[], kind: string): KubernetesObject[] =>
  objects.filter((object) => object.kind === kind);
export const named = (objects: KubernetesObject[], kind: string, name: string): KubernetesObject => {
  const found = of(objects, kind).find((object) => object.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};
