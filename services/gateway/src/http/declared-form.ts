import { maxBodyBytes, type Operation, type Param } from '@natter/contracts';

/** A parameter that requests send as a field of their form, as a part of their path or as a header. */
interface DeclaredParam {
  /** The key of the parameter in `params` of the operation. */
  key: string;
  param: Param;
  /** The names of the form field: its own name and its aliases. */
  names: readonly string[];
  /** Whether the parameter has no value if a request does not contain it. */
  isOmittable: boolean;
}

/** The form of an operation, derived from the contract. */
interface DeclaredForm {
  params: readonly DeclaredParam[];
  /** The names of all fields. */
  fieldNames: ReadonlySet<string>;
  /** The key of the parameter that takes the form's file. */
  fileKey: string | undefined;
  /** The largest form without a file. */
  maxBytes: number;
}

const known = new WeakMap<Operation, DeclaredForm>();

/** Derived once for each operation: it is needed several times for each request. */
export function declaredForm(operation: Operation): DeclaredForm {
  const found = known.get(operation);
  if (found) return found;
  const form = derive(operation);
  known.set(operation, form);
  return form;
}

function derive(operation: Operation): DeclaredForm {
  const all = Object.entries(operation.params);
  // The value of any other parameter comes from the form's file, or from the body.
  const sent = all.filter(([, { encoding }]) => encoding !== 'file' && encoding !== 'body');
  const params = sent.map(([key, param]) => ({
    key,
    param,
    names: [key, ...param.aliases],
    isOmittable: isOmittable(param),
  }));
  return {
    params,
    fieldNames: new Set(params.flatMap(({ param, names }) => (param.header === undefined ? names : []))),
    fileKey: all.find(([, { encoding }]) => encoding === 'file')?.[0],
    maxBytes: maxBodyBytes(operation),
  };
}

function isOmittable({ schema }: Param): boolean {
  const absent = schema.safeParse(undefined);
  return absent.success && absent.data === undefined;
}
