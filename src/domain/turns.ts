/** How long the pieces of work that run in one turn may take together. */
const turnMs = 10;

const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * Runs a piece of work when it is its turn: one after another, and after {@link turnMs} of them whatever else the process has
 * to do comes first. For work of milliseconds that may come by the thousand; a piece itself is not cut.
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
