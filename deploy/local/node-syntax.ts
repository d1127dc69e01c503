import { stripTypeScriptTypes } from 'node:module';
import type { Sources } from './layout.ts';

/**
 * Sources that Node cannot run: `npm start` runs them without a compiler, while tests bundle them. Node's parser refuses some
 * programs that TypeScript accepts, such as `for (const of of list)`.
 */
export function nodeSyntaxFaults(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    if (!path.endsWith('.ts')) return [];
    try {
      stripTypeScriptTypes(text);
      return [];
    } catch (error) {
      return [`${path}: Node cannot parse it: ${(error as Error).message.trim().split('\n')[0]}`];
    }
  });
}
