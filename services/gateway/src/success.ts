import { Readable } from 'node:stream';
import { joinObjects } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';

const ignoredName = '"ignored_parameters_unsupported"';
/** What is smaller leaves as text: Node sends it in one write with its headers. */
const smallBytes = 16_384;

/** The owner's result as it came, with what every answer has, and the names of what was ignored here or there. */
export function sendSuccess(
  reply: FastifyReply,
  pieces: readonly Uint8Array[],
  ignored: readonly string[],
): FastifyReply {
  let result = pieces;
  let names = ignored;
  const [first, ...rest] = pieces.map(toBuffer);
  // Results that name what they ignored are short.
  if (first && rest.length === 0 && first.includes(ignoredName)) {
    const { ignored_parameters_unsupported = [], ...others } = JSON.parse(first.toString()) as Record<string, unknown>;
    names = [...new Set([...ignored, ...(ignored_parameters_unsupported as string[])])];
    result = [Buffer.from(JSON.stringify(others))];
  }
  // Few results have a text of their own there.
  const hasText = first?.toString('latin1', 0, textStart.length) === textStart;
  const head = hasText ? '{"result":"success"}' : '{"result":"success","msg":""}';
  const named = names.length > 0 ? [JSON.stringify({ ignored_parameters_unsupported: names })] : [];
  const answer = joinObjects([head, result, ...named]);
  const bytes = answer.reduce((sum, piece) => sum + piece.length, 0);
  reply.type('application/json; charset=utf-8');
  if (bytes < smallBytes) return reply.send(Buffer.concat(answer).toString());
  return reply.header('content-length', bytes).send(Readable.from(answer, { objectMode: false }));
}

const textStart = '{"msg":';
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
