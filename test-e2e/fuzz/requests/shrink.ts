import type { Call } from './call.ts';

const maxTries = 40;

/** A simpler request that demonstrates the same problem; undefined if the problem does not recur. */
export async function shrink(call: Call, shows: (candidate: Call) => Promise<boolean>): Promise<Call | undefined> {
  let left = maxTries;
  const isShown = async (candidate: Call): Promise<boolean> => left-- > 0 && (await shows(candidate));
  if (!(await isShown(call))) return undefined;
  let best = call;
  for (let index = best.fields.length - 1; index >= 0; index--) {
    const candidate = { ...best, fields: best.fields.filter((_, at) => at !== index) };
    if (await isShown(candidate)) best = candidate;
  }
  for (const name of Object.keys(best.headers)) {
    const { [name]: _, ...headers } = best.headers;
    const candidate = { ...best, headers };
    if (await isShown(candidate)) best = candidate;
  }
  for (let index = 0; index < best.fields.length; index++)
    for (;;) {
      const field = best.fields[index];
      if (!field || typeof field[1] !== 'string' || field[1].length < 20) break;
      const [name, value] = field;
      const halves = [value.slice(0, value.length >> 1), value.slice(value.length >> 1)];
      let smaller: Call | undefined;
      for (const half of halves) {
        const fields = best.fields.with(index, [name, half]);
        if (await isShown({ ...best, fields })) smaller = { ...best, fields };
        if (smaller) break;
      }
      if (!smaller) break;
      best = smaller;
    }
  return best;
}
