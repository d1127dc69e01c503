import { z } from 'zod';

/**
 * A parameter of an operation. Text parameters are taken raw; all others are JSON text in the form field
 * (specification, conventions). `textOrJson` takes JSON where the text is JSON and the raw text otherwise.
 */
export interface Param<S extends z.ZodType = z.ZodType> {
  encoding: 'text' | 'json' | 'textOrJson';
  schema: S;
  required: boolean;
  aliases: readonly string[];
}

export const text = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> => param('text', schema, aliases);
export const json = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> => param('json', schema, aliases);
export const textOrJson = <S extends z.ZodType>(schema: S, ...aliases: string[]): Param<S> =>
  param('textOrJson', schema, aliases);

function param<S extends z.ZodType>(encoding: Param['encoding'], schema: S, aliases: string[]): Param<S> {
  return { encoding, schema, required: !schema.safeParse(undefined).success, aliases };
}

export type Params = Record<string, Param>;
export type ParamValues<P extends Params> = { [K in keyof P]: z.output<P[K]['schema']> };

export const bool = z.boolean();
export const int = z.int();
export const ids = z.array(z.int());
