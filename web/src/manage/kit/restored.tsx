import { Button } from '../../ui/button.tsx';

/** What is said of a half-written form that was given up. */
export const thrownAway = 'What you wrote is thrown away.';

/** Above a form that begins with what was not saved before. */
export function Restored({ onThrowAway }: { readonly onThrowAway: () => void }) {
  return (
    <p className="banner" role="status">
      What you had not saved is here again.
      <Button size="small" onClick={onThrowAway}>
        Throw it away
      </Button>
    </p>
  );
}
