import { useSyncExternalStore } from 'react';

/** The delays in ms before the service is asked again while it does not answer: the page recovers soon after it returns. */
const firstWaitMs = 300;
const maxWaitMs = 2_000;
/** The time in ms that the service has to answer. */
const answerMs = 2_000;
/** The time in ms that the service has to answer when the browser has lost its network. It may still answer if it is on the same machine. */
const offlineAnswerMs = 250;
/** The time in ms that a subscription may take to be restored before the connection counts as lost. */
const restoreMs = 200;

const waiting = new Set<() => void>();
const listeners = new Set<() => void>();
const recoveryListeners = new Set<() => void>();
/** The subscriptions that ended, with the timer until they count, or null. */
const broken = new Map<object, number | null>();
let isUnreachable = false;
/** The number of times that the service was found unreachable. */
let losses = 0;
let attempt = 0;
let timer = 0;
let pendingCheck: Promise<void> | null = null;

const emit = () => {
  for (const each of listeners) each();
};

/** The delay in ms before the `count`-th retry, counted from 0; randomized, so that not all browsers retry at once. */
export const waitBefore = (count: number): number =>
  Math.min(maxWaitMs, firstWaitMs * 2 ** count) * (0.5 + Math.random() / 2);

/** Resolves when the service answers again. */
export function whenReachable(): Promise<void> {
  return new Promise((resolve) => waiting.add(resolve));
}

/** Returns the number of losses of the connection so far. */
export const lossCount = (): number => losses;

/**
 * Call whenever the service has answered. `lossesBefore`: the {@link lossCount} when the request was sent; an answer to a request from before
 * the last loss says nothing.
 */
export function markReachable(lossesBefore = losses): void {
  if (lossesBefore !== losses) return;
  attempt = 0;
  clearTimeout(timer);
  const wasUnreachable = isUnreachable;
  isUnreachable = false;
  for (const each of waiting) each();
  waiting.clear();
  if (!wasUnreachable) return;
  emit();
  for (const each of recoveryListeners) each();
}

/** Calls `listener` when the service answers after it did not, or when the user retries. Returns a function that unsubscribes. */
export function onRecovery(listener: () => void): () => void {
  recoveryListeners.add(listener);
  return () => recoveryListeners.delete(listener);
}

/** Resolves to true if the service answers. */
export const isServiceUp = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(answerMs) }).then(
    ({ ok }) => ok,
    () => false,
  );

async function ask(): Promise<void> {
  clearTimeout(timer);
  const before = losses;
  if (!(await isServiceUp())) return markUnreachable();
  if (losses !== before) return ask();
  if (isUnreachable) markReachable();
}

function markUnreachable(): void {
  losses += 1;
  isUnreachable = true;
  emit();
  clearTimeout(timer);
  timer = window.setTimeout(() => void checkConnection(), waitBefore(attempt++));
}

/** Call when the browser reports that it is offline: the connection counts as lost at once, unless the service still answers. */
export function checkOffline(): void {
  if (isUnreachable) return;
  const patience = window.setTimeout(markUnreachable, offlineAnswerMs);
  void isServiceUp().then((isUp) => {
    clearTimeout(patience);
    if (!isUp && !isUnreachable) markUnreachable();
  });
}

/** Asks the service if it is up: call when a request or the socket has failed. Asks again until it answers. Never rejects. */
export function checkConnection(): Promise<void> {
  pendingCheck ??= ask().finally(() => {
    pendingCheck = null;
  });
  return pendingCheck;
}

/** Resolves when the service answers, also if it was not known to be unreachable. */
export async function whenAnswering(): Promise<void> {
  await checkConnection();
  if (isUnreachable) await whenReachable();
}

/** Restores everything that waits for a retry now, if the service answers. */
export async function retryNow(): Promise<void> {
  attempt = 0;
  const wasUnreachable = isUnreachable;
  await checkConnection();
  if (!wasUnreachable && !isUnreachable) for (const each of recoveryListeners) each();
}

/** Records that a subscription ended and is to be restored: what it keeps up to date may be out of date. */
export function markBroken(owner: object): void {
  if (broken.has(owner)) return;
  const restored = window.setTimeout(() => {
    broken.set(owner, null);
    emit();
  }, restoreMs);
  broken.set(owner, restored);
}

/** Records that a subscription is restored, or no longer needed. */
export function markRestored(owner: object): void {
  const restored = broken.get(owner);
  if (restored === undefined) return;
  if (restored !== null) clearTimeout(restored);
  broken.delete(owner);
  emit();
}

const listen = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const isLost = () => isUnreachable || [...broken.values()].includes(null);

/** Returns true while the displayed data may be out of date because the service cannot be reached. */
export const useIsConnectionLost = (): boolean => useSyncExternalStore(listen, isLost);
