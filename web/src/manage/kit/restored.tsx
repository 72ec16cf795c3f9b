import { Button } from '../../ui/button.tsx';

/** What is said of a half-written form that was given up. */
export const discardedText = 'What you wrote is thrown away.';

/** Above a form that begins with what was not saved before. */
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
