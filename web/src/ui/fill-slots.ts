import { createElement, Fragment, type ReactNode } from 'react';

/** An element around words of the text, or a value. */
export type Slot = ((text: ReactNode) => ReactNode) | ReactNode;

const slot = /<(\w+)>([\s\S]*?)<\/\1>|\{(\w+)\}/g;

/** Puts content into the slots of a text: `<link>words</link>` and `{value}`. Content is not searched for slots. */
export function fillSlots(text: string, slots: Readonly<Record<string, Slot>>): ReactNode {
  let end = 0;
  const parts = [...text.matchAll(slot)].flatMap((match) => {
    const [whole, tag = '', words = '', value = ''] = match;
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    const content = slots[tag || value];
    const node = typeof content === 'function' ? content(fillSlots(words, slots)) : content;
    return [before, createElement(Fragment, { key: match.index }, node)];
  });
  return [...parts, text.slice(end)];
}
