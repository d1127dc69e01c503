import type { Task } from './use-task.ts';

/** Says how a task went. It stays in the page, so that screen readers read changes. */
export function Outcome({ task }: { task: Task }) {
  return (
    <p className={task.problem === undefined ? 'outcome' : 'outcome alarm'} role="status">
      {task.problem ?? task.done ?? ''}
    </p>
  );
}
