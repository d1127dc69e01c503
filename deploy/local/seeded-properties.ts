/** Properties of a run with SEED try the same values each time. */
import fc from 'fast-check';

const { SEED } = process.env;
if (SEED !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(SEED) });
