import type { Emoji } from '../state/completion.ts';

let loading: Promise<readonly Emoji[]> | undefined;

/** The names of all emoji, asked once. */
export function loadEmoji(): Promise<readonly Emoji[]> {
  loading ??= request().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function request(): Promise<readonly Emoji[]> {
  const response = await fetch('/static/emoji_data.json');
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const { code_to_names } = (await response.json()) as { code_to_names: Record<string, string[]> };
  return Object.entries(code_to_names).flatMap(([code, names]) => {
    const mark = String.fromCodePoint(...code.split('-').map((part) => Number.parseInt(part, 16)));
    return names.map((name) => ({ name, mark }));
  });
}
