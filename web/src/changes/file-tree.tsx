import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { fileTree as texts } from '../texts/changes.ts';
import { Icon } from '../ui/icons.tsx';
import { visible } from '../ui/visible.ts';
import { Status } from './file-card.tsx';
import type { ListedFile } from './files-store.ts';
import { type TreeRow, treeRows } from './tree-rows.ts';

/** The height of a row in pixels. */
const rowHeight = 28;
/** Levels below are not indented further. */
const maxIndent = 10;

interface FileTreeProps {
  readonly files: readonly ListedFile[];
  /** The key of the chosen file; null: none. */
  readonly chosen: string | null;
  readonly onChoose: (file: ListedFile) => void;
}

/** The changed files as a tree by the WAI-ARIA pattern: arrow keys, Home, End, Enter and Space. */
export function FileTree({ files, chosen, onChoose }: FileTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeRows(files, closed), [files, closed]);
  const byKey = useMemo(() => new Map(files.map((file) => [file.key, file])), [files]);
  const [active, setActive] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 12,
  });
  const at = Math.max(
    0,
    rows.findIndex(({ key }) => key === (active ?? chosen)),
  );
  useEffect(() => {
    if (chosen !== null) setActive(chosen);
  }, [chosen]);
  const goTo = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    setActive(row.key);
    virtual.scrollToIndex(rows.indexOf(row));
  };
  const toggle = (key: string, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(key);
    else next.add(key);
    setClosed(next);
  };
  const activate = (row: TreeRow) => {
    setActive(row.key);
    if (row.type === 'folder') return toggle(row.key, !row.isOpen);
    const file = byKey.get(row.key);
    if (file) onChoose(file);
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.metaKey || event.ctrlKey || event.altKey) return;
    const isFolder = row.type === 'folder';
    const actions: Readonly<Record<string, () => void>> = {
      'ArrowDown': () => goTo(at + 1),
      'ArrowUp': () => goTo(at - 1),
      'Home': () => goTo(0),
      'End': () => goTo(rows.length - 1),
      'Enter': () => activate(row),
      ' ': () => activate(row),
      'ArrowRight': () => {
        if (isFolder && !row.isOpen) toggle(row.key, true);
        else if (isFolder) goTo(at + 1);
      },
      'ArrowLeft': () => {
        if (isFolder && row.isOpen) toggle(row.key, false);
        else goTo(rows.findIndex(({ key }) => key === row.parent));
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const items = virtual.getVirtualItems();
  const idOf = (index: number) => `${id}-${index}`;
  return (
    <div
      className="file-tree"
      role="tree"
      aria-label={texts.changedFiles}
      tabIndex={0}
      ref={box}
      onKeyDown={press}
      aria-activedescendant={items.some(({ index }) => index === at) ? idOf(at) : undefined}
    >
      <div role="none" className="tree-rows" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          if (!row) return null;
          const file = byKey.get(row.key);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus and handles the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus (aria-activedescendant).
            <div
              role="treeitem"
              className={`tree-row ${row.type}`}
              id={idOf(index)}
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.setSize}
              aria-expanded={row.type === 'folder' ? row.isOpen : undefined}
              aria-selected={row.key === chosen}
              data-active={index === at || undefined}
              title={visible(file?.path ?? row.name)}
              onClick={() => activate(row)}
              style={{
                transform: `translateY(${start}px)`,
                paddingLeft: `${0.5 + Math.min(maxIndent, row.level - 1) * 0.8}rem`,
              }}
              key={key}
            >
              {row.type === 'folder' ? <Icon name="chevron" size={12} /> : <Status status={file?.status ?? ''} />}
              <bdi>{visible(row.name)}</bdi>
              {row.type === 'folder' && !row.isOpen && <small>{row.count}</small>}
            </div>
          );
        })}
      </div>
    </div>
  );
}
