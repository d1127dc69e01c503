/** The settings of the processes, as the schemas that check them at the start. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);

/** The JSON Schema of a setting. */
export interface SettingShape {
  type?: string;
  enum?: unknown[];
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

/** The settings of each service by the name of its config, without those that every process has. */
export async function settingsByService(): Promise<Map<string, Record<string, z.ZodType>>> {
  const modules: URL[] = [];
  for (const service of (await readdir(new URL('services/', root))).sort())
    for (const file of ['config.ts', 'model/config.ts', 'http/config.ts', 'service.ts', 'scheduler-service.ts'])
      modules.push(new URL(`services/${service}/src/${file}`, root));
  modules.push(new URL('deploy/canary/src/config.ts', root));
  const found = new Map<string, Record<string, z.ZodType>>();
  for (const module of modules.filter((one) => existsSync(one)))
    for (const [name, value] of Object.entries((await import(module.href)) as Record<string, unknown>))
      if (name.endsWith('Config') && value instanceof z.ZodObject) found.set(name.replace(/Config$/, ''), ownOf(value));
  return found;
}

function ownOf({ shape }: z.ZodObject): Record<string, z.ZodType> {
  const all = Object.entries(shape as Record<string, z.ZodType>);
  return Object.fromEntries(all.filter(([key]) => !(key in commonConfig.shape)));
}

export const shapeOfSetting = (schema: z.ZodType, io: 'input' | 'output' = 'input'): SettingShape =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as SettingShape;
