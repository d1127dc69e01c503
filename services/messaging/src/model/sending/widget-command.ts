import { badRequest, briefly, excessOf } from '@natter/contracts';
import { z } from 'zod';

/** Content that clients show in place of the text. */
export interface Widget {
  widget_type: 'poll' | 'todo' | 'zform';
  extra_data: Record<string, unknown>;
}

/** The widget of a message: the one that a bot gives, or that of a command. */
export const widgetOf = (content: string, given: string | undefined): Widget | undefined =>
  given === undefined ? widgetOfCommand(content) : widgetGiven(given);

const itemsIn = (lines: readonly string[]): string[] =>
  lines.map((line) => line.trim().replace(/^[-*]?\s*/, '')).filter((line) => line !== '');

/** `/poll question` and `/todo title`, each followed by a line for every option or task. */
export function widgetOfCommand(content: string): Widget | undefined {
  const command = /^\/(poll|todo)(?=\s|$)/.exec(content)?.[1];
  if (command === undefined) return undefined;
  const [first = '', ...lines] = content.slice(command.length + 1).split(/\r?\n/);
  const title = first.trim();
  const items = itemsIn(lines);
  if (command === 'poll') return { widget_type: 'poll', extra_data: { question: title, options: items } };
  const tasks = items.map((item) => {
    const [task = '', ...desc] = item.split(': ');
    return { task: task.trim(), desc: desc.join(': ').trim() };
  });
  return { widget_type: 'todo', extra_data: { task_list_title: title, tasks } };
}

const choicesSchema = z.looseObject({
  type: z.literal('choices'),
  heading: z.string(),
  choices: z.array(z.looseObject({ long_name: z.string(), reply: z.string(), short_name: z.string() })),
});
const givenSchema = z.object({ widget_type: z.string(), extra_data: z.record(z.string(), z.unknown()) });

/** A form has 5. */
const maxLevels = 400;

/** The widget that a bot adds to a message: a form of choices, whose replies its readers send. */
export function widgetGiven(text: string): Widget {
  const refuse = (why: string) => badRequest(`Widgets: ${why}`);
  if (excessOf(text, maxLevels, text.length)) throw refuse(`nested too deeply (limit: ${maxLevels} levels)`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('API programmer sent invalid JSON content');
  }
  const given = givenSchema.safeParse(value);
  if (!given.success) {
    const [name] = given.error.issues[0]?.path ?? [];
    throw refuse(
      name === undefined ? 'widget_content is not a dict' : `${String(name)} is missing or of the wrong type`,
    );
  }
  const { widget_type, extra_data } = given.data;
  if (widget_type !== 'zform') throw refuse(`unknown widget type: ${briefly(widget_type)}`);
  if (extra_data.type !== 'choices') throw refuse(`unknown zform type: ${briefly(extra_data.type)}`);
  const choices = choicesSchema.safeParse(extra_data);
  if (!choices.success)
    throw refuse(`${choices.error.issues[0]?.path.join('.') || 'extra_data'} is not as a form has it`);
  return { widget_type, extra_data: choices.data };
}
