import { Empty } from '../ui/states.tsx';

const texts = {
  'no-repository': [
    'No repository',
    'This session works on no repository, so there is nothing to compare. Choose repositories when you start a session.',
  ],
  'not-yet': ['No changes yet', 'The changes are stored when the turn ends. Choose "Refresh" to compare now.'],
  'not-stored': [
    'No changes stored',
    'The repositories of this session were not compared: no turn has ended since its repositories were cloned, or the comparison failed. They are compared after each turn.',
  ],
  'turn-not-stored': ['Not stored', 'No changes are stored for this turn.'],
  'nothing': ['No changes', 'The repository is as it was when the session began.'],
  'nothing-in-turn': ['No changes', 'This turn changed no file.'],
} as const;

/** Explains why there are no changes to show. */
export function NoChanges({ reason }: { readonly reason: keyof typeof texts }) {
  const [title, text] = texts[reason];
  return <Empty title={title} text={text} />;
}
