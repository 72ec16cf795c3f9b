import { Button } from '../../ui/button.tsx';

/** The message after a draft was discarded. */
export const discardedText = 'What you wrote is thrown away.';

/** Shown above a form that starts with an unsaved draft. */
export function Restored({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <p className="banner" role="status">
      What you had not saved is here again.
      <Button size="small" onClick={onDiscard}>
        Throw it away
      </Button>
    </p>
  );
}
