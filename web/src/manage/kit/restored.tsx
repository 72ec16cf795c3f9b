import { Button } from '../../ui/button.tsx';

/** The message after a draft was discarded. */
export const discardedText = 'Your changes were discarded.';

/** Shown above a form that starts with an unsaved draft. */
export function Restored({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <p className="banner" role="status">
      Your unsaved changes were restored.
      <Button size="small" onClick={onDiscard}>
        Discard changes
      </Button>
    </p>
  );
}
