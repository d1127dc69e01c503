import { z } from 'zod';
import { type Bound, type Bounded, boundOf, id, list } from './bounded.ts';

/**
 * A parameter of an operation. Text parameters are taken raw; all others are JSON text in the form field
 * (specification, conventions). `textOrJson` takes JSON where the text is JSON and the raw text otherwise.
 */
export interface Param<S extends z.ZodType = z.ZodType> {
  encoding: 'text' | 'json' | 'textOrJson' | 'file';
  schema: S;
  required: boolean;
  aliases: readonly string[];
  bound: Bound;
}

export const text = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> => param('text', schema, aliases);
export const json = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> => param('json', schema, aliases);
export const textOrJson = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> =>
  param('textOrJson', schema, aliases);

/** An uploaded file whose bytes its owner has been given already, in chunks, under a key that nobody else knows. */
export const uploadedFileSchema = z.object({
  key: z.string(),
  name: z.string(),
  content_type: z.string(),
  size: z.int(),
  sha256: z.string(),
});
export type UploadedFile = z.infer<typeof uploadedFileSchema>;

/** The one file of a form, whatever its part is called. The gateway makes its value; NATTER_MAX_UPLOAD_MIB bounds its bytes. */
export const file = (): Param<typeof uploadedFileSchema> => ({
  encoding: 'file',
  schema: uploadedFileSchema,
  required: true,
  aliases: [],
  bound: { characters: 0, json: 0, form: 0, depth: 0 },
});

function param<S extends Bounded>(encoding: Param['encoding'], schema: S, aliases: string[]): Param<S> {
  const bound = boundOf(schema);
  const json = Math.min(bound.json, maxJsonUnits);
  const form = encoding === 'text' ? bound.form : Math.min(bound.form, 3 * maxJsonUnits);
  const required = !schema.safeParse(undefined).success;
  return { encoding, schema, required, aliases, bound: { ...bound, json, form } };
}

export type Params = Record<string, Param>;
export type ParamValues<P extends Params> = { [K in keyof P]: z.output<P[K]['schema']> };

/** No value of JSON is longer, whatever its parts allow together. */
const maxJsonUnits = 2 * 1024 * 1024;
/** For whitespace around and inside a value. */
export const slackUnits = 1_024;

/** How long the text of a parameter may be, in UTF-16 units. */
export const maxUnits = ({ encoding, bound }: Param): number =>
  slackUnits + (encoding === 'text' ? 2 * bound.characters : bound.json);

/** For parameters. */
export const bool = z.boolean();
export const idList = (maxItems: number) => list(id, maxItems);
/** For results, which have no bound of their own. */
export const int = z.int();
export const ids = z.array(z.int());
