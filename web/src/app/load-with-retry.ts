import { checkConnection, isServiceUp, waitBefore, whenReachable } from '../relay/connectivity.ts';
import { reloadFailedStylesheets } from './stylesheets.ts';

/** After a reload within this time, the page is not reloaded again: the missing part does not exist. */
const restMs = 30_000;
const key = 'reloaded-at';

/**
 * Loads a part of the console, with its stylesheets. Waits while the service is unreachable, so that unsaved input stays. If the service is
 * reachable, the part belongs to an old version; a reload of the page finds the current one.
 */
export async function loadWithRetry<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      const part = await load();
      await reloadFailedStylesheets();
      return part;
    } catch (error) {
      if (await isServiceUp()) {
        if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < restMs) throw error;
        sessionStorage.setItem(key, String(Date.now()));
        location.reload();
      }
      void checkConnection();
      await Promise.race([whenReachable(), new Promise((resolve) => setTimeout(resolve, waitBefore(attempt)))]);
    }
  }
}
