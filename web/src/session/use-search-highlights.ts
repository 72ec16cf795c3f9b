import { type RefObject, useEffect, useRef } from 'react';

/** The name in `::highlight(search)`. */
const name = 'search';
/** More marks than a window shows. */
const maxRanges = 1_000;

/**
 * Marks parts of the text in an element, where a word begins, and again when its content changes: rows are rendered by themselves.
 * Without the CSS Custom Highlight API, nothing is marked. The document does not change: its texts may belong to React.
 */
export function useSearchHighlights(box: RefObject<HTMLElement | null>, parts: readonly string[]): void {
  const marked = useRef<Marked | null>(null);
  useEffect(() => {
    const element = box.current;
    if (marked.current?.element === element && marked.current.parts === parts) return;
    marked.current?.stop();
    marked.current = element === null || parts.length === 0 || !('highlights' in CSS) ? null : mark(element, parts);
  });
  useEffect(() => () => marked.current?.stop(), []);
}

interface Marked {
  readonly element: HTMLElement;
  readonly parts: readonly string[];
  readonly stop: () => void;
}

function mark(element: HTMLElement, parts: readonly string[]): Marked {
  let frame = 0;
  const update = () => {
    frame = 0;
    const ranges = rangesIn(element, parts);
    if (ranges.length === 0) CSS.highlights.delete(name);
    else CSS.highlights.set(name, new Highlight(...ranges));
  };
  const observer = new MutationObserver(() => {
    if (frame === 0) frame = requestAnimationFrame(update);
  });
  observer.observe(element, { childList: true, characterData: true, subtree: true });
  update();
  return {
    element,
    parts,
    stop() {
      observer.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(name);
    },
  };
}

function rangesIn(element: HTMLElement, parts: readonly string[]): Range[] {
  const pattern = searchPattern(parts);
  if (pattern === null) return [];
  const ranges: Range[] = [];
  const texts = document.createNodeIterator(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode() as Text | null; node; node = texts.nextNode() as Text | null) {
    for (const { index, 0: found } of node.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      ranges.push(range);
      if (ranges.length === maxRanges) return ranges;
    }
  }
  return ranges;
}

/** Returns a pattern that finds parts of texts, whatever characters they have, where a word begins; null without parts. */
export function searchPattern(parts: readonly string[]): RegExp | null {
  const words = parts.filter((part) => part !== '').map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return words.length === 0 ? null : new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})`, 'giu');
}
