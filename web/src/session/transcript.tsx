import { elementScroll, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useSigned } from '../app/gate.tsx';
import { transcriptJumps } from '../texts/session.ts';
import { transcript as texts } from '../texts/session-transcript.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import type { Entry } from './entry.ts';
import { markOf, shownRows } from './fold-rows.ts';
import { RowMarks } from './row-marks.tsx';
import { RowView } from './rows.tsx';
import { endThreshold, type ScrollPosition, useScrollPosition } from './scroll-position.ts';
import { TranscriptJumps } from './transcript-jumps.tsx';
import { type Row, transcriptRows, withDrafts } from './transcript-rows.ts';
import { TranscriptSearch } from './transcript-search.tsx';
import { useJumps } from './use-jumps.ts';
import { RowsOpenContext } from './use-row-open.ts';
import { useSearchBar } from './use-search-bar.ts';
import { useSearchHighlights } from './use-search-highlights.ts';
import { type Transcript as TranscriptData, useDrafts } from './use-transcript.ts';

/** The distance from the top, in pixels, at which the previous page is fetched. */
const earlierWithin = 800;

interface TranscriptProps {
  readonly sessionId: string;
  readonly transcript: TranscriptData;
  /** The question that the session waits for, which is shown outside of the transcript; null: none. */
  readonly questionId: string | null;
}

/**
 * The log as a conversation. It renders only visible rows, opens at the end, stays there while the user is there, and
 * does not move while the user reads further up.
 */
export function Transcript({ sessionId, transcript, questionId }: TranscriptProps) {
  const logRows = useMemo(() => transcriptRows(transcript.entries), [transcript.entries]);
  const drafts = useDrafts(transcript);
  const [opened] = useState(() => new Map<string, boolean>());
  const rows = useMemo(() => {
    const known = logRows.filter((row) => !isPending(row, questionId));
    // The drafts belong to the end of the log.
    return shownRows(transcript.hasLater ? known : withDrafts(known, drafts), (key) => opened.get(key) === true);
  }, [logRows, drafts, questionId, transcript.hasLater, opened]);
  const box = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const { hasLater, loadLater, cursorAt } = transcript;
  const position = useScrollPosition(box, !hasLater);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (rows[index]?.type === 'message' ? 110 : 44),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 4,
    anchorTo: 'end',
    scrollEndThreshold: endThreshold,
    paddingStart: 16,
    paddingEnd: 16,
    scrollToFn: (offset, options, instance) => {
      // The list learns positions before the event of the user's scrolling, and then corrects them.
      position.notice();
      elementScroll(offset, options, instance);
      position.record();
    },
    onChange: (instance) => setAway(!instance.isAtEnd(200)),
  });
  const { loadEarlier, hasEarlier, isLoadingEarlier, isLoaded } = transcript;
  const { toEnd, look: updateFollowing } = useFollowing(box, virtual, position, isLoaded);
  const height = virtual.getTotalSize();
  // The heights of rows are known only after rendering: until then the end moves.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time the end has moved.
  useLayoutEffect(() => {
    if (!isLoaded) return;
    toEnd();
    // Once more, after the list has adjusted its position to measured rows.
    const frame = requestAnimationFrame(() => toEnd());
    return () => cancelAnimationFrame(frame);
  }, [isLoaded, height, rows]);
  // When the user sends something, the transcript scrolls to it.
  const seen = useRef(transcript.entries.at(-1)?.seq ?? 0);
  const isOwn = useOwn();
  useLayoutEffect(() => {
    const news = transcript.entries.filter(({ seq }) => seq > seen.current);
    const isFirst = seen.current === 0;
    seen.current = Math.max(seen.current, transcript.entries.at(-1)?.seq ?? 0);
    if (!isFirst && news.some(isOwn)) toEnd(true);
  }, [transcript.entries, isOwn, toEnd]);
  const loadMore = () => {
    // Not while it first scrolls to the end.
    if (!isLoaded || !box.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    // Nor while another tab hides it: it is then at its start.
    if (clientHeight === 0) return;
    if (hasEarlier && scrollTop < earlierWithin) void loadEarlier();
    if (hasLater && scrollHeight - scrollTop - clientHeight < earlierWithin) void loadLater();
  };
  const jumps = useJumps({
    ...{ transcript, rows, list: virtual },
    leaveEnd: position.hold,
    toLatest: () => toEnd(true),
  });
  const search = useSearchBar();
  useSearchHighlights(box, search.parts);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page whose rows are few leaves room for one more.
  useEffect(loadMore, [rows.length, isLoadingEarlier, transcript.isLoadingLater, isLoaded]);
  const scrolled = () => {
    updateFollowing();
    loadMore();
  };
  const isScrollable = height > (virtual.scrollRect?.height ?? 0);
  if (!isLoaded) {
    return (
      <div className="transcript">
        <Loading label={texts.loading} rows={5} />
      </div>
    );
  }
  return (
    <>
      {search.isOpen && <TranscriptSearch {...search} sessionId={sessionId} onGo={jumps.toEntry} />}
      <div className="transcript">
        <div
          className="scroll"
          ref={box}
          onScroll={scrolled}
          onWheel={position.release}
          onTouchMove={position.release}
          onPointerDown={position.release}
          onKeyDown={position.release}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too.
          tabIndex={0}
          role="log"
          aria-label={texts.transcript}
          aria-live="off"
        >
          {isLoadingEarlier && <p className="earlier">{texts.loadingEarlier}</p>}
          {rows.length === 0 && <Empty title={texts.empty} text={texts.emptyText} />}
          <RowsOpenContext value={opened}>
            <div className="rows" style={{ height }}>
              {virtual.getVirtualItems().map((item) => {
                const row = rows[item.index];
                if (!row) return null;
                const mark = markOf(row);
                return (
                  <div
                    className="row"
                    key={item.key}
                    data-index={item.index}
                    data-key={row.key}
                    data-target={row.key === jumps.target || undefined}
                    tabIndex={-1}
                    data-reverted={row.type === 'day' ? undefined : row.isReverted}
                    ref={virtual.measureElement}
                    style={{ transform: `translateY(${item.start}px)` }}
                  >
                    <RowView row={row} />
                    {mark && <RowMarks at={mark.at} address={entryAddress(cursorAt(mark.seq))} />}
                  </div>
                );
              })}
            </div>
          </RowsOpenContext>
        </div>
        {((isAway && isScrollable) || hasLater) && rows.length > 0 && (
          <div className="to-end">
            <Button size="small" icon="toEnd" aria-keyshortcuts="End" onClick={jumps.toEnd}>
              {transcriptJumps.latest}
            </Button>
          </div>
        )}
      </div>
      <TranscriptJumps {...jumps} isLong={hasLater || hasEarlier || isScrollable} onSearch={search.onOpen} />
    </>
  );
}

/** The address of this page at an entry. */
const entryAddress = (cursor: string | null) =>
  cursor === null ? location.pathname : `${location.pathname}?entry=${encodeURIComponent(cursor)}`;

function isPending(row: Row, questionId: string | null): boolean {
  return row.type === 'question' && row.entry.questionId === questionId;
}

/** Returns true for a message that the viewer has just sent from this page. */
function useOwn(): (entry: Entry) => boolean {
  const { principal } = useSigned().viewer;
  return useCallback(
    (entry) => {
      if (entry.__typename !== 'SessionMessage' || entry.type === 'AGENT_MESSAGE') return false;
      const isTheirs = entry.author != null && entry.author.id === principal?.id;
      return isTheirs && Boolean(document.activeElement?.closest('.composer, .question'));
    },
    [principal],
  );
}

/** Follows new entries while the user is at the end, and again when the user returns there. */
function useFollowing(
  box: RefObject<HTMLElement | null>,
  list: Virtualizer<HTMLDivElement, Element>,
  { isFollowing, notice, record, release }: ScrollPosition,
  isLoaded: boolean,
) {
  const toEnd = useCallback(
    (always = false) => {
      if (!box.current) return;
      if (always) release();
      // The event of the user's scrolling may still be pending.
      notice();
      if (always) {
        isFollowing.current = true;
        record();
      }
      if (!isFollowing.current) return;
      // Through the list: if the box were scrolled directly, the list would delay its corrections and cut off the last
      // row.
      list.scrollToEnd();
      record();
    },
    [box, isFollowing, list, notice, record, release],
  );
  const updateFollowing = useCallback(() => {
    const isByPerson = notice();
    record();
    if (!isByPerson) toEnd();
  }, [notice, record, toEnd]);
  // Lines between the transcript and the composer come and go, which moves the end without a scroll event.
  useEffect(() => {
    if (!isLoaded || !box.current) return;
    const observer = new ResizeObserver(() => toEnd());
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box, isLoaded, toEnd]);
  return { toEnd, look: updateFollowing };
}
