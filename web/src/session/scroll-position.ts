import { type RefObject, useCallback, useMemo, useRef } from 'react';

/** The distance from the end, in pixels, that counts as being at the end. */
export const endThreshold = 80;

/** The measures of a box that scrolls, in pixels. */
type Measures = Readonly<Record<'scrollTop' | 'scrollHeight' | 'clientHeight', number>>;

const measure = ({ scrollTop, scrollHeight, clientHeight }: Element): Measures => ({
  scrollTop,
  scrollHeight,
  clientHeight,
});

/**
 * Returns true if a user has scrolled up: by more than the content has shrunk or the box has grown, because both may make
 * the browser scroll up.
 */
export function isScrolledUp(before: Measures, now: Measures): boolean {
  const shrunkBy = Math.max(0, before.scrollHeight - now.scrollHeight);
  const grownBy = Math.max(0, now.clientHeight - before.clientHeight);
  return now.scrollTop < before.scrollTop - 2 - shrunkBy - grownBy;
}

/** Knows if the transcript is at its end. A change of the position that no program recorded was made by the user. */
export interface ScrollPosition {
  /** True while new entries are followed. */
  readonly isFollowing: RefObject<boolean>;
  /** Call before scrolling by program. Returns true if the user has scrolled up since the last recorded position. */
  readonly notice: () => boolean;
  /** Call after scrolling by program. */
  readonly record: () => void;
  /** Stops following, until the user scrolls or {@link release} is called. */
  readonly hold: () => void;
  readonly release: () => void;
}

/** `mayFollow`: false while the end of what is shown is not the end of the log. */
export function useScrollPosition(box: RefObject<HTMLElement | null>, mayFollow: boolean): ScrollPosition {
  const may = useRef(mayFollow);
  may.current = mayFollow;
  const last = useRef<Measures>({ scrollTop: 0, scrollHeight: 0, clientHeight: 0 });
  const isFollowing = useRef(true);
  const isHeld = useRef(false);
  const notice = useCallback(() => {
    if (!box.current) return false;
    const now = measure(box.current);
    const isByPerson = isScrolledUp(last.current, now);
    if (!may.current || isHeld.current) isFollowing.current = false;
    else if (now.scrollHeight - now.scrollTop - now.clientHeight < endThreshold) isFollowing.current = true;
    else if (isByPerson) isFollowing.current = false;
    return isByPerson;
  }, [box]);
  const record = useCallback(() => {
    if (box.current) last.current = measure(box.current);
  }, [box]);
  const release = useCallback(() => {
    isHeld.current = false;
  }, []);
  const hold = useCallback(() => {
    isHeld.current = true;
    isFollowing.current = false;
  }, []);
  return useMemo(() => ({ isFollowing, notice, record, hold, release }), [notice, record, hold, release]);
}
