import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import type { Snapshot } from './feed.ts';
import { fold } from './fold.ts';
import { RowView } from './rows.tsx';

/** How near to the beginning of what is there the page before it is fetched, in pixels. */
const earlierWithin = 800;

interface TranscriptProps {
  readonly feed: Snapshot & { readonly loadEarlier: () => Promise<void> };
  readonly onAnswer: (words: string) => void;
}

/**
 * The log as a conversation. Only what is on the screen is in the page; it opens at the end, stays there while one is
 * there, and does not move while one reads further up.
 */
export function Transcript({ feed, onAnswer }: TranscriptProps) {
  const rows = useMemo(() => fold(feed.entries), [feed.entries]);
  const box = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (rows[index]?.type === 'message' ? 110 : 44),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: 80,
    paddingStart: 16,
    paddingEnd: 16,
    onChange: (instance) => setAway(!instance.isAtEnd(200)),
  });

  const { loadEarlier, hasEarlier, isLoadingEarlier, isLoaded } = feed;
  // Once, at the end; how high the last rows are is known only when they are there.
  const isPlaced = useRef(false);
  useEffect(() => {
    if (!isLoaded || isPlaced.current) return;
    isPlaced.current = true;
    virtual.scrollToEnd();
  }, [isLoaded, virtual]);
  const look = () => {
    if (isPlaced.current && hasEarlier && (box.current?.scrollTop ?? 0) < earlierWithin) void loadEarlier();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page whose rows are few leaves room for one more.
  useEffect(look, [rows.length, isLoadingEarlier]);

  if (!isLoaded) {
    return (
      <div className="transcript">
        <Loading label="Loading the transcript" rows={5} />
      </div>
    );
  }
  return (
    <div className="transcript">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too. */}
      <div className="scroll" ref={box} onScroll={look} tabIndex={0} role="log" aria-label="Transcript" aria-live="off">
        {isLoadingEarlier && <p className="earlier">Loading what was before</p>}
        {rows.length === 0 && <Empty title="Nothing yet" text="The agent has not begun. What it does appears here." />}
        <div className="rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                className="row"
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <RowView row={row} onAnswer={onAnswer} />
              </div>
            );
          })}
        </div>
      </div>
      {isAway && rows.length > 0 && (
        <div className="to-end">
          <Button size="small" icon="arrowDown" onClick={() => virtual.scrollToEnd()}>
            To the end
          </Button>
        </div>
      )}
    </div>
  );
}
