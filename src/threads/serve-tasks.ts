import { parentPort } from 'node:worker_threads';

/** Makes the current thread answer the tasks of a {@link ThreadPool}, one after another. */
export function serveTasks<Task, Result>(handle: (task: Task) => Result): void {
  parentPort?.on('message', (task: Task) => parentPort?.postMessage(handle(task)));
  parentPort?.postMessage('ready');
}
