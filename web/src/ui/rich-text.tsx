import type { ReactNode } from 'react';
import type { Rich } from '../texts/kit.ts';
import { fillSlots, type Slot } from './fill-slots.ts';

interface RichTextProps<Tag extends string, Value extends string> {
  readonly text: Rich<Tag, Value>;
  /** For each tag a function that puts an element around its words, and for each value its content. */
  readonly slots: { readonly [Name in Tag]: (text: ReactNode) => ReactNode } & { readonly [Name in Value]: ReactNode };
}

/** A text of the catalogue with elements inside. */
export function RichText<Tag extends string, Value extends string>({ text, slots }: RichTextProps<Tag, Value>) {
  return fillSlots(text.text, slots as Readonly<Record<string, Slot>>);
}
