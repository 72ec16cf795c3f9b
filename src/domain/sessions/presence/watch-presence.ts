import { permissionFor } from '../../../auth/permissions.ts';
import { hasPermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { getSession } from '../find-session.ts';
import type { Presence, SessionViewer } from './presence.ts';

interface PresenceWatches {
  readonly presence: Presence;
  /** Waits until all known changes of keys and roles are applied; null when none is pending. */
  settled(): Promise<void> | null;
}

/** Minimum time in ms between two lists for one subscriber. */
const minGapMs = 200;

/**
 * Returns the viewers of a session, then all of them again after each change; changes close together arrive as one. A
 * slow consumer gets the latest list only. Ends on `return()`, or when the viewer may no longer see the session.
 */
export async function watchPresence(
  context: Context,
  { presence, settled }: PresenceWatches,
  sessionId: string,
): Promise<AsyncIterableIterator<readonly SessionViewer[]>> {
  const { id, organizationId } = await getSession(context, sessionId);
  let hasChanged = true;
  let isOver = false;
  let wake: () => void = () => undefined;
  const changed = () => {
    hasChanged = true;
    wake();
  };
  // From the first next() on: a client that leaves before it may never call return().
  let stop: (() => void) | null = null;
  const end = () => {
    isOver = true;
    stop?.();
    wake();
  };
  let gap: Promise<void> = Promise.resolve();
  const mayView = () => hasPermission(context.viewer, permissionFor.viewSession, organizationId);
  const take = async (): Promise<IteratorResult<readonly SessionViewer[]>> => {
    await gap;
    if (!isOver) stop ??= presence.listen(id, changed);
    while (!hasChanged && !isOver) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    // A role that has just been lost is applied first.
    if (!isOver) await settled();
    if (!isOver && !mayView()) end();
    if (isOver) return { done: true, value: undefined };
    hasChanged = false;
    gap = new Promise((resolve) => setTimeout(resolve, minGapMs).unref());
    return { done: false, value: presence.viewersOf(id) };
  };
  let queue: Promise<unknown> = Promise.resolve();
  const iterator: AsyncIterableIterator<readonly SessionViewer[]> = {
    next() {
      const step = queue.then(take);
      queue = step.catch(() => undefined);
      return step;
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
