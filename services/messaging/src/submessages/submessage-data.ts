import { badRequest, briefly, limits } from '@natter/contracts';
import { z } from 'zod';

const text = z.string().max(limits.messageLength);
/** Clients make keys of a number and an id, or of a number and the word `canned`. */
const keyText = z.string().max(200);
const index = z.int().min(0).max(1_000);
const poll = {
  vote: z.object({ key: keyText, vote: z.union([z.literal(1), z.literal(-1)]) }),
  new_option: z.object({ option: text, idx: index }),
  question: z.object({ question: text }),
};
const todo = {
  new_task: z.object({ key: index, task: text, desc: text, completed: z.boolean() }),
  strike: z.object({ key: keyText }),
  new_task_list_title: z.object({ title: text }),
};
/** A map instead of an object, because a type from a request may be `constructor` or another inherited property. */
const kinds = new Map<string, Map<string, z.ZodType>>([
  ['poll', new Map(Object.entries(poll))],
  ['todo', new Map(Object.entries(todo))],
]);
/** Changes reserved to the author of the widget. */
const ofAuthor = new Map([
  ['question', "You can't edit a question unless you are the author."],
  ['new_task_list_title', "You can't edit the task list title unless you are the author."],
]);

/** Refuses invalid data for polls and task lists. The content of other widgets is not checked. */
export function requireSubmessageData(widgetType: string | undefined, data: unknown, isAuthor: boolean): void {
  const known = kinds.get(widgetType ?? '');
  if (!known) return;
  const type = z.looseObject({ type: z.string() }).safeParse(data);
  if (!type.success) throw badRequest('type key is missing from submessage data');
  const schema = known.get(type.data.type);
  if (!schema) throw badRequest(`Unknown type for ${widgetType} data: ${briefly(type.data.type)}`);
  const refusal = ofAuthor.get(type.data.type);
  if (refusal !== undefined && !isAuthor) throw badRequest(refusal);
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw badRequest(`Invalid ${widgetType} data: ${parsed.error.issues[0]?.path.join('.') ?? ''}`);
}
