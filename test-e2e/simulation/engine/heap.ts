/** Work at a simulated time; `order` decides between equal times. */
export interface Task {
  at: number;
  order: number;
  run: () => void;
}

/** A binary heap, the earliest task first. */
export class TaskHeap {
  readonly #tasks: Task[] = [];

  get size(): number {
    return this.#tasks.length;
  }

  push(task: Task): void {
    const tasks = this.#tasks;
    let index = tasks.length;
    tasks.push(task);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = tasks[parent] as Task;
      if (!isBefore(task, above)) break;
      tasks[index] = above;
      index = parent;
    }
    tasks[index] = task;
  }

  pop(): Task | undefined {
    const tasks = this.#tasks;
    const first = tasks[0];
    const last = tasks.pop();
    if (!last || tasks.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= tasks.length) break;
      const right = tasks[child + 1];
      if (right && isBefore(right, tasks[child] as Task)) child++;
      const below = tasks[child] as Task;
      if (!isBefore(below, last)) break;
      tasks[index] = below;
      index = child;
    }
    tasks[index] = last;
    return first;
  }
}

const isBefore = (a: Task, b: Task): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
