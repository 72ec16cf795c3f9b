import { useEffect } from 'react';
import { useRelayEnvironment } from 'react-relay';
import { loadSessionChunk } from '../app/session-chunk.tsx';
import { preloadSession } from '../session/session-load.ts';

/** The time in ms that the pointer or the focus must stay on a link, so that passing over a list loads nothing. */
const stayMs = 50;

/**
 * Loads the page of a session in advance when the pointer or the focus stays on a link to it, or a button with its path in
 * `data-address`, and at once when it is pressed or is the first page. A finger that scrolls the list over a link loads nothing.
 */
export function usePreloading(): void {
  const environment = useRelayEnvironment();
  useEffect(() => {
    let timer = 0;
    const preload = (id: string) => {
      preloadSession(environment, id);
      // The page reports the error when it is opened.
      loadSessionChunk().catch(() => undefined);
    };
    // The data of the first page does not wait for its code.
    const first = sessionAt(location.pathname);
    if (first !== null) preload(first);
    const soon = (target: EventTarget | null) => {
      clearTimeout(timer);
      const id = sessionOf(target);
      if (id !== null) timer = window.setTimeout(() => preload(id), stayMs);
    };
    const now = (target: EventTarget | null) => {
      clearTimeout(timer);
      const id = sessionOf(target);
      if (id !== null) preload(id);
    };
    const enter = ({ target, pointerType }: PointerEvent) => pointerType !== 'touch' && soon(target);
    const focus = ({ target }: FocusEvent) => soon(target);
    const press = ({ target, pointerType }: PointerEvent) => pointerType !== 'touch' && now(target);
    // A finger that scrolls ends with `pointercancel`.
    const lift = ({ target, pointerType }: PointerEvent) => pointerType === 'touch' && now(target);
    document.addEventListener('pointerover', enter);
    document.addEventListener('focusin', focus);
    document.addEventListener('pointerdown', press);
    document.addEventListener('pointerup', lift);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('pointerover', enter);
      document.removeEventListener('focusin', focus);
      document.removeEventListener('pointerdown', press);
      document.removeEventListener('pointerup', lift);
    };
  }, [environment]);
}

/** Returns the id in the address of the session page to which an element leads; null if it leads to no session. */
function sessionOf(target: EventTarget | null): string | null {
  const link = target instanceof Element ? target.closest('a[href], [data-address]') : null;
  return sessionAt(link?.getAttribute('data-address') ?? link?.getAttribute('href') ?? '');
}

function sessionAt(address: string): string | null {
  return /^\/sessions\/([0-9a-z-]+)(?:[?#]|$)/i.exec(address)?.[1] ?? null;
}
