import type { ReactNode } from 'react';
import { noChanges as texts } from '../texts/changes.ts';
import { Empty } from '../ui/states.tsx';

const reasons = {
  'no-repository': [texts.noRepository, texts.noRepositoryText],
  'not-yet': [texts.noneYet, texts.noneYetText],
  'not-stored': [texts.noneStored, texts.noneStoredText],
  'turn-not-stored': [texts.notStored, texts.notStoredText],
  'nothing': [texts.unchanged, texts.unchangedText],
  'nothing-in-turn': [texts.unchanged, texts.turnUnchangedText],
} as const;

interface NoChangesProps {
  readonly reason: keyof typeof reasons;
  /** Links to something else. */
  readonly children?: ReactNode;
}

/** Explains why there are no changes to show. */
export function NoChanges({ reason, children }: NoChangesProps) {
  const [title, text] = reasons[reason];
  return (
    <Empty title={title} text={text}>
      {children}
    </Empty>
  );
}
