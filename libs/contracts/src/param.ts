import { z } from 'zod';

/**
 * A parameter of an operation. Text parameters are taken raw; all others are JSON text in the form field
 * (specification, conventions). `textOrJson` takes JSON where the text is JSON and the raw text otherwise.
 */
export interface Param<S extends z.ZodType = z.ZodType> {
  encoding: 'text' | 'json' | 'textOrJson' | 'file';
  schema: S;
  required: boolean;
  aliases: readonly string[];
}

export const text = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> => param('text', schema, aliases);
export const json = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> => param('json', schema, aliases);
export const textOrJson = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> =>
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

/** The one file of a form, whatever its part is called. */
export const file = (): Param<typeof uploadedFileSchema> => param('file', uploadedFileSchema, []);

function param<S extends z.ZodType>(encoding: Param['encoding'], schema: S, aliases: string[]): Param<S> {
  return { encoding, schema, required: !schema.safeParse(undefined).success, aliases };
}

export type Params = Record<string, Param>;
export type ParamValues<P extends Params> = { [K in keyof P]: z.output<P[K]['schema']> };

export const bool = z.boolean();
export const int = z.int();
export const ids = z.array(z.int());
