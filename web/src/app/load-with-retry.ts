/** After a reload within this time, the page is not reloaded again: the missing part does not exist. */
const restMs = 30_000;
const maxWaitMs = 5_000;
const key = 'reloaded-at';

const isReachable = () =>
  fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Loads a part of the console. Waits while the service is unreachable, so that unsaved input stays. If the service is
 * reachable, the part belongs to an old version; a reload of the page finds the current one.
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
