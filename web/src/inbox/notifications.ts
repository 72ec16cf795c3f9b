import { useSyncExternalStore } from 'react';
import { sessionAddress } from '../session/address.ts';
import { plainTitle } from '../session/plain-title.ts';
import { showStatus } from '../ui/status.ts';
import type { NewlyNeeding } from './use-live-inbox.ts';

const key = 'switchyard:notifications';
const listeners = new Set<() => void>();

/** The state of notifications in this browser. They need HTTPS or localhost. */
export type NotificationState = 'unavailable' | 'blocked' | 'off' | 'on';

/** Returns true if the browser can show notifications at all. */
const isAvailable = () => 'Notification' in window && window.isSecureContext;

function readState(): NotificationState {
  if (!isAvailable()) return 'unavailable';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(key) === 'on' ? 'on' : 'off';
}

/** Returns the current state. */
export function useNotificationState(): NotificationState {
  return useSyncExternalStore(subscribe, readState);
}

/** Switches notifications in this browser on, for which it asks the user, or off. Returns the new state. */
export async function switchNotifications(isOn: boolean): Promise<NotificationState> {
  if (isOn) {
    localStorage.setItem(key, 'on');
    await Notification.requestPermission();
  } else localStorage.removeItem(key);
  for (const listener of [...listeners]) listener();
  return readState();
}

/**
 * Shows a notification that a session needs a person, unless the user looks at this session. Tabs with the console replace each
 * other's notifications of a session.
 */
export function notify({ sessionId, title, ...status }: NewlyNeeding, open: (address: string) => void): void {
  const address = sessionAddress(sessionId);
  if (readState() !== 'on' || (document.hasFocus() && location.pathname === address)) return;
  const notification = new Notification(plainTitle(title), { body: showStatus(status).label, tag: sessionId });
  notification.onclick = () => {
    window.focus();
    notification.close();
    open(address);
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
