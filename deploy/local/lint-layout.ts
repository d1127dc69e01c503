import { layoutFaults } from './layout.ts';
import { nodeSyntaxFaults } from './node-syntax.ts';
import { largeSources, sizeFaults } from './sizes.ts';
import { readExported, readSources } from './source-files.ts';

/** A part of `npm run lint`. */
const sources = readSources();
const found = [
  ...layoutFaults(sources, readExported()),
  ...sizeFaults(sources, largeSources),
  ...nodeSyntaxFaults(sources),
];
for (const one of found) console.error(one);
if (found.length > 0) process.exitCode = 1;
