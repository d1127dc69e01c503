import { type Operation, operationsByName } from '@natter/contracts';

export const routed = Object.entries<Operation>(operationsByName).filter(
  ([, operation]) => operation.http !== undefined && operation.protocol === undefined,
);

/** The parts of operations that requests are built from; schemas stay on the server, which validates. */
export function contractModule(): string {
  const data = routed.map(([method, { name, http, params, isReadOnly, deadlineMs }]) => {
    const encodings = Object.entries(params).map(([key, { encoding, takesText }]) => [
      key,
      { encoding, ...(takesText ? { takesText } : {}) },
    ]);
    return [method, { name, http, params: Object.fromEntries(encodings), isReadOnly, deadlineMs }];
  });
  return `export const operationsByName = ${JSON.stringify(Object.fromEntries(data))};`;
}
