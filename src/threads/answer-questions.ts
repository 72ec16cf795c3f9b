import { parentPort } from 'node:worker_threads';

/** Makes the current thread answer the questions of `createLimitedThreads`, one after another. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer): void {
  parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)));
  parentPort?.postMessage('ready');
}
