import { dirname } from 'node:path';

export const repositoryRoot = dirname(dirname(import.meta.dirname));
