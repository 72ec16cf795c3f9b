/** A page that was loaded anew lately is not loaded anew again for the same: what it lacks is not there. */
const restMs = 30_000;
const maxWaitMs = 5_000;
const key = 'reloaded-at';

const isReachable = () =>
  fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Loads a part of the console, and waits where the service cannot be reached: what one has written in the meantime stays. Where
 * it can, the part is of a version that is no more: loaded anew, the page finds its own.
 */
export async function loadWithRetry<T>(load: () => Promise<T>): Promise<T> {
  for (let wait = 500; ; wait = Math.min(maxWaitMs, wait * 2)) {
    try {
      return await load();
    } catch (error) {
      if (await isReachable()) {
        if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < restMs) throw error;
        sessionStorage.setItem(key, String(Date.now()));
        location.reload();
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
