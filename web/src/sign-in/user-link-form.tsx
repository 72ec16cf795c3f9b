import { useEffect, useState } from 'react';
import { fetchViewer } from '../relay/session-sync.ts';
import { signIn as texts } from '../texts/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/icons.tsx';
import { forgetUserLink } from './link.ts';

interface UserLinkFormProps {
  readonly isBusy: boolean;
  readonly onUse: () => void;
  /** The link is not wanted: the person is signed in already. */
  readonly onStay: () => void;
  /** The link is not wanted: the person has a token. */
  readonly onToken: () => void;
}

/** Asks before a link for a user signs in: the link works once. */
export function UserLinkForm({ isBusy, onUse, onStay, onToken }: UserLinkFormProps) {
  // The person who is signed in now; null: nobody.
  const [name, setName] = useState<string | null>(null);
  useEffect(() => {
    void fetchViewer().then((viewer) => setName(viewer?.name ?? null));
  }, []);
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onUse();
        }}
      >
        <Mark size={44} />
        <h1>{texts.signInToSwitchyard}</h1>
        <p>{name === null ? texts.userLink : texts.offerSignedIn({ name })}</p>
        {name !== null && (
          <Button
            tone="primary"
            onClick={() => {
              forgetUserLink();
              onStay();
            }}
          >
            {texts.staySignedIn}
          </Button>
        )}
        <Button type="submit" tone={name === null ? 'primary' : 'plain'} isBusy={isBusy} autoFocus={name === null}>
          {name === null ? texts.signIn : texts.useLink}
        </Button>
        {name === null && (
          <Button
            onClick={() => {
              forgetUserLink();
              onToken();
            }}
          >
            {texts.signInWithToken}
          </Button>
        )}
      </form>
    </main>
  );
}
