import { joinObjects } from '@natter/service-kit';

/** The owner's result as it came, with what every answer has, and the names of what was ignored here or there. */
export function successOf(text: string, ignored: readonly string[]): string {
  let result = text;
  let names = ignored;
  if (text.includes('"ignored_parameters_unsupported"')) {
    const { ignored_parameters_unsupported = [], ...rest } = JSON.parse(text) as Record<string, unknown>;
    names = [...new Set([...ignored, ...(ignored_parameters_unsupported as string[])])];
    result = JSON.stringify(rest);
  }
  // Few results have a text of their own there.
  const head = result.startsWith('{"msg":') ? '{"result":"success"}' : '{"result":"success","msg":""}';
  const named = names.length > 0 ? { ignored_parameters_unsupported: names } : {};
  return joinObjects([head, result, JSON.stringify(named)]);
}
