import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { transcriptJumps as texts } from '../texts/session.ts';
import { isInDialog, isTyping } from '../ui/focus.ts';
import { useToasts } from '../ui/toasts.tsx';
import { hasFailed, markOf, type ShownRow } from './fold-rows.ts';
import type { Transcript } from './use-transcript.ts';

/** The most pages that a jump loads to find its row. */
const maxPages = 20;

/** The time in ms for which a jump keeps its row in place while rows arrive, unless the user scrolls. */
const settlingMs = 2_000;

/** The actions of the buttons and keys of a transcript. */
export interface Jumps {
  readonly toStart: () => void;
  readonly toEnd: () => void;
  readonly toOwnBefore: () => void;
  readonly toOwn: () => void;
  readonly toError: () => void;
  /** Shows the entry with this cursor, also if it is not loaded. */
  readonly toEntry: (cursor: string) => void;
  /** The key of the row to which the last jump went; null: none. */
  readonly target: string | null;
}

interface JumpOptions {
  readonly transcript: Transcript;
  readonly rows: readonly ShownRow[];
  readonly list: Virtualizer<HTMLDivElement, Element>;
  /** Stops following new entries. */
  readonly leaveEnd: () => void;
  /** Scrolls to the end, and follows new entries. */
  readonly toLatest: () => void;
}

/** Jumps in a transcript, also to entries that are not loaded, and to the entry in the page's address. */
export function useJumps(options: JumpOptions): Jumps {
  const latest = useRef(options);
  latest.current = options;
  const toasts = useToasts();
  const { principal } = useSigned().viewer;
  const [target, setTarget] = useState<string | null>(null);
  const last = useRef<string | null>(null);
  /** Counts the jumps: a later one replaces one that is still loading. */
  const jump = useRef(0);
  /** The row of the last jump, until the list has measured what is around it. */
  const settling = useRef<{ readonly key: string; readonly until: number } | null>(null);
  const goTo = useCallback((index: number) => {
    jump.current++;
    const { rows, list, leaveEnd } = latest.current;
    const row = rows[index];
    if (!row) return;
    leaveEnd();
    last.current = row.key;
    setTarget(row.key);
    list.scrollToIndex(index, { align: 'start' });
    settling.current = { key: row.key, until: performance.now() + settlingMs };
    // After the list has measured and rendered the rows around it.
    let frames = 0;
    const focus = () => {
      // The user may write by now.
      if (isTyping(document.activeElement)) return;
      const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(row.key)}"]`);
      if (element) element.focus({ preventScroll: true });
      else if (frames++ < 60) requestAnimationFrame(focus);
    };
    requestAnimationFrame(() => requestAnimationFrame(focus));
  }, []);
  const isOwn = useCallback(
    (row: ShownRow) =>
      row.type === 'message' &&
      row.entry !== null &&
      row.entry.type !== 'AGENT_MESSAGE' &&
      row.entry.author?.id === principal?.id,
    [principal],
  );
  /** The row at the top of what is visible, or the last target while it is visible. */
  const current = useCallback(() => {
    const { rows, list } = latest.current;
    const top = list.scrollOffset ?? 0;
    const bottom = top + (list.scrollElement?.clientHeight ?? 0);
    const visible = list.getVirtualItems().filter(({ start, end }) => end > top + 8 && start < bottom);
    const known = visible.find(({ index }) => rows[index]?.key === last.current);
    return (known ?? visible[0])?.index ?? 0;
  }, []);
  const search = useCallback(
    async (isWanted: (row: ShownRow) => boolean, direction: 1 | -1) => {
      const key = latest.current.rows[current()]?.key;
      for (let page = 0; page <= maxPages; page++) {
        const { rows, transcript } = latest.current;
        const from = rows.findIndex((row) => row.key === key);
        const found =
          direction === 1
            ? rows.findIndex((row, index) => index > from && isWanted(row))
            : rows.findLastIndex((row, index) => index < from && isWanted(row));
        if (found >= 0) return goTo(found);
        const hasMore = direction === 1 ? transcript.hasLater : transcript.hasEarlier;
        if (!hasMore) break;
        await (direction === 1 ? transcript.loadLater() : transcript.loadEarlier());
        // The rows of the page are there after the next rendering.
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      }
      // From the end, the search begins again at the top.
      const again = direction === 1 ? latest.current.rows.findIndex(isWanted) : -1;
      if (again >= 0) goTo(again);
      else toasts.say(texts.none);
    },
    [current, goTo, toasts],
  );
  /** The number of the entry to which a jump goes as soon as it is rendered; null: none. */
  const awaited = useRef<{ readonly seq: number; readonly jump: number } | null>(null);
  const goToAwaited = useCallback(() => {
    const { rows, transcript } = latest.current;
    if (awaited.current === null || awaited.current.jump !== jump.current) return;
    const { seq } = awaited.current;
    if (!transcript.entries.some((each) => each.seq === seq)) return;
    awaited.current = null;
    // An entry may have no row of its own.
    const at = rows.findLastIndex((row) => (markOf(row)?.seq ?? Number.POSITIVE_INFINITY) <= seq);
    goTo(at >= 0 ? at : rows.findIndex((row) => markOf(row) !== null));
  }, [goTo]);
  const { rows } = options;
  // The list scrolls to a position over some frames. Earlier rows that arrive meanwhile move the row to another position.
  useLayoutEffect(() => {
    if (settling.current === null || performance.now() > settling.current.until) return;
    const { key } = settling.current;
    const index = rows.findIndex((row) => row.key === key);
    if (index >= 0) latest.current.list.scrollToIndex(index, { align: 'start' });
  }, [rows]);
  useEffect(() => {
    const leave = () => {
      settling.current = null;
    };
    const events = ['wheel', 'touchmove', 'pointerdown'] as const;
    for (const event of events) addEventListener(event, leave, { passive: true });
    return () => {
      for (const event of events) removeEventListener(event, leave);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are the reason to look again.
  useEffect(goToAwaited, [rows]);
  const openAt = useCallback(
    async (cursor: string | null) => {
      const mine = ++jump.current;
      settling.current = null;
      latest.current.leaveEnd();
      const seq = await latest.current.transcript.openAt(cursor);
      if (mine !== jump.current) return;
      if (seq === null) return toasts.fail(texts.notFound);
      awaited.current = { seq, jump: mine };
      goToAwaited();
    },
    [goToAwaited, toasts],
  );
  const toStart = useCallback(() => void openAt(null), [openAt]);
  const toEnd = useCallback(() => {
    const { transcript, list, toLatest } = latest.current;
    const mine = ++jump.current;
    settling.current = null;
    setTarget(null);
    // The button that was pressed disappears.
    list.scrollElement?.focus({ preventScroll: true });
    void transcript.openEnd().then(() => {
      if (mine === jump.current) toLatest();
    });
  }, []);
  const toOwn = useCallback(() => void search(isOwn, 1), [search, isOwn]);
  const toOwnBefore = useCallback(() => void search(isOwn, -1), [search, isOwn]);
  const toError = useCallback(() => void search(hasFailed, 1), [search]);
  const [params] = useSearchParams();
  const entry = params.get('entry');
  const { isLoaded } = options.transcript;
  useEffect(() => {
    if (isLoaded && entry) void openAt(entry);
  }, [isLoaded, entry, openAt]);
  const toEntry = useCallback((cursor: string) => void openAt(cursor), [openAt]);
  const jumps = { toEntry, toStart, toEnd, toOwn, toOwnBefore, toError, target };
  useJumpKeys(jumps);
  return jumps;
}

function useJumpKeys(jumps: Jumps): void {
  const latest = useRef(jumps);
  latest.current = jumps;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.metaKey || event.ctrlKey || event.altKey || event.shiftKey || isTyping(target) || isInDialog()) return;
      // Home and End also move in tabs, menus and other parts of the page.
      const isHere =
        target === document.body ||
        (target instanceof Element && (target.id === 'main' || target.closest('h1, .transcript, .jumps') !== null));
      const { toStart, toEnd, toOwn, toOwnBefore, toError } = latest.current;
      const field = document.querySelector<HTMLElement>('.composer textarea');
      if (event.key === 'm') toOwn();
      else if (event.key === 'p') toOwnBefore();
      else if (event.key === 'e') toError();
      else if (event.key === 'r' && field) field.focus();
      else if (event.key === 'Home' && isHere) toStart();
      else if (event.key === 'End' && isHere) toEnd();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
