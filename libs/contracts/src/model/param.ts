import { z } from 'zod';
import { type Bound, type Bounded, base64, boundOf, id, list } from './bounded.ts';

/**
 * A parameter of an operation. Text parameters are read as they are; all others are JSON text in the form field.
 * `textOrJson` is parsed as JSON if the text is valid JSON, and is the plain text otherwise.
 */
export interface Param<S extends z.ZodType = z.ZodType> {
  encoding: 'text' | 'json' | 'textOrJson' | 'file' | 'body';
  /** Sent as this header of the request instead of a field. */
  header?: string;
  schema: S;
  required: boolean;
  aliases: readonly string[];
  bound: Bound;
  /** Whether any text is a value of `textOrJson`. A text that is valid JSON, such as `2026`, must then be sent as JSON. */
  takesText: boolean;
}

export const text = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> => param('text', schema, aliases);
export const json = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> => param('json', schema, aliases);
export const textOrJson = <S extends Bounded>(schema: S, ...aliases: string[]): Param<S> =>
  param('textOrJson', schema, aliases);

/** An uploaded file whose chunks are already stored by its owner, under a secret key. */
export const uploadedFileSchema = z.object({
  key: z.string(),
  name: z.string(),
  content_type: z.string(),
  size: z.int(),
  sha256: z.string(),
});
export type UploadedFile = z.infer<typeof uploadedFileSchema>;

/**
 * The only file of a form, whatever its field name. The gateway creates its value; NATTER_MAX_UPLOAD_MIB limits its
 * size.
 */
export const file = (): Param<typeof uploadedFileSchema> => ({
  encoding: 'file',
  schema: uploadedFileSchema,
  required: true,
  aliases: [],
  bound: { characters: 0, json: 0, form: 0, depth: 0, parts: 0 },
  takesText: false,
});

/** Sent as a header of this name. */
export const header = <S extends z.ZodType>(name: string, param: Param<S>): Param<S> => ({ ...param, header: name });

/**
 * The body of the request, which is not a form. The gateway passes it on in pieces of at most this many bytes, in
 * base64, each with a call of its own. NATTER_MAX_UPLOAD_MIB limits its size.
 */
export const body = (maxPieceBytes: number): Param<z.ZodString> => param('body', base64(maxPieceBytes), []);

function param<S extends Bounded>(encoding: Param['encoding'], schema: S, aliases: string[]): Param<S> {
  const bound = boundOf(schema);
  const json = Math.min(bound.json, maxJsonUnits);
  const form = encoding === 'text' ? bound.form : Math.min(bound.form, 3 * maxJsonUnits);
  const parts = Math.min(bound.parts, maxJsonParts);
  const required = !schema.safeParse(undefined).success;
  const takesText = encoding === 'textOrJson' && schema.safeParse('null').success;
  return { encoding, schema, required, aliases, bound: { ...bound, json, form, parts }, takesText };
}

/** The same parameter with a description. */
export const described = <S extends z.ZodType>(param: Param<S>, meaning: string): Param<S> => ({
  ...param,
  schema: param.schema.describe(meaning),
});

export type Params = Record<string, Param>;
export type ParamValues<P extends Params> = { [K in keyof P]: z.output<P[K]['schema']> };

/** Maximum length of a JSON value, even if the bounds of its parts allow more. */
const [maxJsonUnits, maxJsonParts] = [2 * 1024 * 1024, 100_000];
/** Allowance for whitespace around and inside a value. */
export const slackUnits = 1_024;

/** Maximum length of a parameter's text, in UTF-16 units. */
export const maxUnits = ({ encoding, bound }: Param): number =>
  slackUnits + (encoding === 'text' ? 2 * bound.characters : bound.json);

/** Schemas for parameters. */
export const bool = z.boolean();
export const idList = (maxItems: number) => list(id, maxItems);
/** The same without repetitions, for lists whose items cost work or events each. */
export const distinctIds = (maxItems: number) => idList(maxItems).transform((values) => [...new Set(values)]);
/** Schema for results, which need no bound. */
export const int = z.int();
export const ids = z.array(z.int());
