import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { DiffView } from './diff-table.tsx';
import { FileCard } from './file-card.tsx';
import { isOpenAtFirst, linesOf, noDiffText } from './file-text.ts';
import type { FilesSnapshot, FilesStore, ListedFile } from './files-store.ts';

/** The height of a card without its diff, and of a line, in pixels: estimates until a card is rendered. */
const estimated = { card: 56, note: 44, line: 19 } as const;
/** Loads more files if fewer cards follow the last rendered one. */
const loadWithin = 10;

interface FileListProps {
  readonly store: FilesStore;
  readonly snapshot: FilesSnapshot;
  readonly view: DiffView;
  /** The element that scrolls; the list is a part of its content. */
  readonly box: RefObject<HTMLElement | null>;
  /** The file to scroll to; a new object scrolls again. */
  readonly target: { readonly key: string; readonly hasFocus: boolean } | null;
}

/** The cards of changed files, of which only those near the visible part are rendered. */
export function FileList({ store, snapshot, view, box, target }: FileListProps) {
  const { files, hunks, hasMore, isLoading, error } = snapshot;
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = (file: ListedFile) => toggled.get(file.key) ?? isOpenAtFirst(file);
  const list = useRef<HTMLDivElement>(null);
  const margin = useOffset(list, box);
  const virtual = useVirtualizer({
    count: files.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimate(files[index], isOpen),
    getItemKey: (index) => files[index]?.key ?? index,
    scrollMargin: margin,
    overscan: 3,
    gap: 12,
  });
  const pinned = usePinned(box);
  const [focused, setFocused] = useState<string | null>(null);
  const clearFocus = useCallback(() => setFocused(null), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each target.
  useEffect(() => {
    pinned.current = null;
    const index = files.findIndex(({ key }) => key === target?.key);
    if (!target || index < 0) return;
    setToggled((before) => new Map([...before, [target.key, true]]));
    virtual.scrollToIndex(index, { align: 'start' });
    pinned.current = index;
    if (target.hasFocus) setFocused(target.key);
  }, [target]);
  const height = virtual.getTotalSize();
  // Cards above the target get their heights later, with their diffs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time the target may have moved.
  useLayoutEffect(() => {
    if (pinned.current !== null) virtual.scrollToIndex(pinned.current, { align: 'start' });
  }, [height, margin]);
  const shownView = useRef(view);
  // The first file in view stays there when the heights of the cards change.
  useLayoutEffect(() => {
    if (shownView.current === view) return;
    shownView.current = view;
    const offset = virtual.scrollOffset ?? 0;
    const first = virtual.getVirtualItems().find(({ end }) => end > offset);
    if (first && first.start < offset) virtual.scrollToIndex(first.index, { align: 'start' });
  }, [view, virtual]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (hasMore && !isLoading && error === null && last >= files.length - loadWithin) void store.loadMore();
  }, [store, hasMore, isLoading, error, last, files.length]);
  const toggle = useCallback(
    (file: ListedFile) =>
      setToggled((before) => new Map([...before, [file.key, !(before.get(file.key) ?? isOpenAtFirst(file))]])),
    [],
  );
  return (
    <div className="file-list" ref={list} style={{ height }}>
      {items.map(({ index, start, key }) => {
        const file = files[index];
        if (!file) return null;
        return (
          <div
            className="file-place"
            data-index={index}
            ref={virtual.measureElement}
            style={{ top: start - margin }}
            key={key}
          >
            <FileCard
              file={file}
              hunks={hunks.get(file.key)}
              view={view}
              isOpen={isOpen(file)}
              isFocused={focused === file.key}
              onFocused={clearFocus}
              onToggle={toggle}
              onLoad={store.loadHunks}
            />
          </div>
        );
      })}
    </div>
  );
}

function estimate(file: ListedFile | undefined, isOpen: (file: ListedFile) => boolean): number {
  if (!file || !isOpen(file)) return estimated.card;
  if (noDiffText(file) !== null) return estimated.card + estimated.note;
  // With the unchanged lines around the changed ones.
  return estimated.card + ((linesOf(file) ?? 0) + 7) * estimated.line;
}

/** The index of the card that stays at the top until the user does something in `box`; null: none. */
function usePinned(box: RefObject<HTMLElement | null>): RefObject<number | null> {
  const pinned = useRef<number | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const release = () => {
      pinned.current = null;
    };
    for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
      box.current?.addEventListener(name, release, { passive: true, signal });
    return () => controller.abort();
  }, [box]);
  return pinned;
}

/** The distance of the list from the start of the content that scrolls, in pixels. */
function useOffset(list: RefObject<HTMLElement | null>, box: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const [element, scroller] = [list.current, box.current];
    if (!element || !scroller) return;
    const measure = () => {
      const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
      setOffset(Math.round(top));
    };
    measure();
    // The parts above the list change their height: notes, and the tree on a narrow screen.
    const observer = new ResizeObserver(measure);
    for (const each of scroller.children) observer.observe(each);
    return () => observer.disconnect();
  }, [list, box]);
  return offset;
}
