import type { Task } from './use-task.ts';

/** Shows the result of a task. It stays in the page, so that screen readers read changes. */
export function Outcome({ task }: { task: Task }) {
  return (
    <p className={task.problem === undefined ? 'outcome' : 'outcome alarm'} role="status">
      {task.problem ?? task.done ?? ''}
    </p>
  );
}
