/** Time for the work of one turn of the event loop. */
const turnMs = 10;

const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * Runs work in its turn: one piece after another, and after {@link turnMs} the other tasks of the process run first.
 * For pieces of some milliseconds that may come by the thousand; a piece itself is not interrupted.
 */
export function inTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    if (!isScheduled) schedule();
  });
}

function schedule(): void {
  isScheduled = true;
  setImmediate(runSome);
}

function runSome(): void {
  isScheduled = false;
  const endsAt = performance.now() + turnMs;
  do waiting.shift()?.();
  while (waiting.length > 0 && performance.now() < endsAt);
  if (waiting.length > 0 && !isScheduled) schedule();
}
