import { joinObjects } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';
import { streamOf } from './answer-memory.ts';

const ignoredName = '"ignored_parameters_unsupported"';
/** Smaller results are sent as text: Node writes it together with the headers. */
const smallBytes = 16_384;

/** The owner's result, plus the fields of every answer and the ignored parameters of gateway and owner. */
export function sendSuccess(
  reply: FastifyReply,
  pieces: readonly Uint8Array[],
  ignored: readonly string[],
): FastifyReply {
  let result = pieces;
  let names = ignored;
  const [first, ...rest] = pieces.map(toBuffer);
  // Results that list ignored parameters are short.
  if (first && rest.length === 0 && first.includes(ignoredName)) {
    const { ignored_parameters_unsupported = [], ...others } = JSON.parse(first.toString()) as Record<string, unknown>;
    names = [...new Set([...ignored, ...(ignored_parameters_unsupported as string[])])];
    result = [Buffer.from(JSON.stringify(others))];
  }
  // Few results have their own `msg`.
  const hasText = first?.toString('latin1', 0, textStart.length) === textStart;
  const head = hasText ? '{"result":"success"}' : '{"result":"success","msg":""}';
  const named = names.length > 0 ? [JSON.stringify({ ignored_parameters_unsupported: names })] : [];
  reply.type('application/json; charset=utf-8');
  if (sizeOf(result) < smallBytes) return reply.send(joinTexts([head, Buffer.concat(result).toString(), ...named]));
  const answer = joinObjects([head, result, ...named]);
  const bytes = sizeOf(answer);
  return reply.header('content-length', bytes).send(streamOf(answer, bytes));
}

/** Merges objects that have no member name in common. */
const joinTexts = (objects: readonly string[]): string =>
  `{${objects
    .map((object) => object.slice(1, -1))
    .filter((members) => members !== '')
    .join()}}`;

const sizeOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0);
const textStart = '{"msg":';
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
