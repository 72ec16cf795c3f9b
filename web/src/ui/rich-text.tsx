import { Fragment, type ReactNode } from 'react';
import type { Rich } from '../texts/kit.ts';

/** An element around words of the text, or a value. */
type Slot = ((text: ReactNode) => ReactNode) | ReactNode;

interface RichTextProps<Tag extends string, Value extends string> {
  readonly text: Rich<Tag, Value>;
  /** For each tag a function that puts an element around its words, and for each value its content. */
  readonly slots: { readonly [Name in Tag]: (text: ReactNode) => ReactNode } & { readonly [Name in Value]: ReactNode };
}

const slot = /<(\w+)>([\s\S]*?)<\/\1>|\{(\w+)\}/g;

/** A text of the catalogue with elements inside. */
export function RichText<Tag extends string, Value extends string>({ text, slots }: RichTextProps<Tag, Value>) {
  return fill(text.text, slots as Readonly<Record<string, Slot>>);
}

function fill(text: string, slots: Readonly<Record<string, Slot>>): ReactNode {
  let end = 0;
  const parts = [...text.matchAll(slot)].flatMap((match) => {
    const [whole, tag = '', words = '', value = ''] = match;
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    const content = slots[tag || value];
    const node = typeof content === 'function' ? content(fill(words, slots)) : content;
    return [before, <Fragment key={match.index}>{node}</Fragment>];
  });
  return [...parts, text.slice(end)];
}
