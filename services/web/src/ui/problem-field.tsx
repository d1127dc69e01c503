import { type AriaAttributes, cloneElement, type ReactElement, useEffect, useId, useRef } from 'react';
import { Field } from './field.tsx';
import type { Task } from './use-task.ts';

interface ProblemFieldProps {
  label: string;
  problem: string | undefined;
  children: ReactElement<AriaAttributes>;
}

/** A field with the reason of a refusal; it gets the focus. */
export function ProblemField({ label, problem, children }: ProblemFieldProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (problem !== undefined) box.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [problem]);
  return (
    <div className="problem-field" ref={box}>
      <Field label={label}>
        {problem === undefined ? children : cloneElement(children, { 'aria-invalid': true, 'aria-describedby': id })}
      </Field>
      {problem !== undefined && (
        <p id={id} className="outcome alarm">
          {problem}
        </p>
      )}
    </div>
  );
}

/**
 * Divides the problem of a task among fields: `of` is that of a field, and `rest` the task without the problem of any. The
 * API names no field, so the text of its refusal decides.
 */
export function problemsOf<F extends string>(task: Task, causes: Readonly<Record<F, RegExp>>) {
  const { problem } = task;
  const fields = Object.entries<RegExp>(causes) as [F, RegExp][];
  const field = problem === undefined ? undefined : fields.find(([, cause]) => cause.test(problem))?.[0];
  return {
    of: (name: F): string | undefined => (name === field ? problem : undefined),
    rest: field === undefined ? task : { ...task, problem: undefined },
  };
}
