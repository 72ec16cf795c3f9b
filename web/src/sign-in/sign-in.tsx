import { common } from '../texts/common.ts';
import { signIn as texts } from '../texts/sign-in.ts';
import { RichText } from '../ui/rich-text.tsx';
import './sign-in.css';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { focusAfterSignIn } from '../app/focus-on-navigation.tsx';
import { consoleHeaders, pageSecret, storePageSecret } from '../relay/page-secret.ts';
import { fetchViewer } from '../relay/session-sync.ts';
import { notifySignedIn, type SignOutCause } from '../relay/signed-out.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Mark } from '../ui/icons.tsx';
import { CallbackPage } from './callback-page.tsx';
import {
  forgetLink,
  forgetUserLink,
  rememberSignIn,
  type SignInLink,
  takeLink,
  takeUserLink,
  type UserLink,
} from './link.ts';
import { ProviderButtons } from './provider-buttons.tsx';
import { takeAnswer } from './sign-on.ts';
import { UserLinkForm } from './user-link-form.tsx';

interface Answer {
  readonly pageSecret?: string;
  readonly message?: string;
}

/** Signs in and stores the page secret. Returns the reason of a refusal, or null. */
async function send(
  input: { readonly token: string } | SignInLink | UserLink,
): Promise<{ readonly message: string; readonly status: number } | null> {
  try {
    const response = await fetch('/console/session', {
      method: 'POST',
      credentials: 'same-origin',
      // With the previous page secret, whose sign-in this one ends.
      headers: { 'content-type': 'application/json', ...consoleHeaders() },
      body: JSON.stringify(input),
    });
    const body = (await response.json().catch(() => null)) as Answer | null;
    if (response.ok && body?.pageSecret !== undefined) {
      storePageSecret(body.pageSecret);
      return null;
    }
    const { status } = response;
    return { status, message: body?.message ?? texts.unexpectedStatus({ status }) };
  } catch {
    return { status: 0, message: common.notReachable };
  }
}

interface SignInProps {
  /** The cause of the sign-out if pages were open until now. */
  readonly cause: SignOutCause | null;
  readonly onDone: () => void;
}

const causes = { HERE: null, OTHER_TAB: texts.signedOutInOtherTab, REFUSED: texts.signedOut } as const;

/** Signs in with a link, a token or an identity provider. */
export function SignIn({ cause, onDone }: SignInProps) {
  const note = cause === null ? null : causes[cause];
  const [token, setToken] = useState('');
  const [error, setError] = useState<{ readonly message: string; readonly isOfToken: boolean } | null>(null);
  // The answer of an identity provider that sent the browser back here.
  const [answer, setAnswer] = useState(takeAnswer);
  const field = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  // A link in a browser that is or was signed in; in the second case the name is null.
  const [offer, setOffer] = useState<{ readonly link: SignInLink; readonly name: string | null } | null>(null);
  // It needs a press of a button: a program that opens links to show them must not use it up.
  const [userLink, setUserLink] = useState(takeUserLink);
  // Such a user does not run the service.
  const [isInvited] = useState(userLink !== null);
  const isTaken = useRef(false);

  const finishSignIn = (returnTo = '/') => {
    if (location.pathname === '/sign-in') history.replaceState(null, '', returnTo);
    notifySignedIn();
    focusAfterSignIn();
    onDone();
  };
  const enter = async (input: Parameters<typeof send>[0]) => {
    setBusy(true);
    const refusal = await send(input);
    setBusy(false);
    // After a connection that broke, a reload uses the link again.
    if (refusal?.status !== 0) {
      forgetLink();
      forgetUserLink();
    }
    if (refusal === null) {
      rememberSignIn('userLink' in input);
      return finishSignIn();
    }
    setOffer(null);
    setUserLink(null);
    setError({ isOfToken: 'token' in input || (refusal.status !== 401 && 'link' in input), message: refusal.message });
    field.current?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link is used once.
  useEffect(() => {
    if (isTaken.current || answer !== null || userLink !== null) return;
    isTaken.current = true;
    const link = takeLink();
    if (link === null) return;
    // The user may have returned to a page that was opened with a used link. A link that somebody sent may belong to
    // the sender: another server of the host can end the sign-in by overwriting its cookie, and then send the browser
    // to a link of its own.
    void fetchViewer().then((viewer) => {
      if (viewer?.name !== undefined) setOffer({ link, name: viewer.name });
      else if (pageSecret() !== null) setOffer({ link, name: null });
      else void enter(link);
    });
  }, []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter({ token: token.trim() });
  };
  if (answer !== null) {
    return (
      <CallbackPage
        answer={answer}
        onSignedIn={(returnTo) => {
          rememberSignIn(false);
          finishSignIn(returnTo);
        }}
        onProblem={(message) => {
          setAnswer(null);
          setError({ isOfToken: false, message });
        }}
      />
    );
  }
  if (userLink !== null) {
    return (
      <UserLinkForm
        isBusy={isBusy}
        onUse={() => void enter(userLink)}
        onStay={() => finishSignIn()}
        onToken={() => setUserLink(null)}
      />
    );
  }
  if (offer) {
    return (
      <main className="sign-in">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            forgetLink();
            if (offer.name === null) setOffer(null);
            else finishSignIn();
          }}
        >
          <Mark size={44} />
          <h1>{offer.name === null ? texts.signedInBefore : texts.signedIn}</h1>
          <p>{offer.name === null ? texts.offerAfterEnd : texts.offerSignedIn({ name: offer.name })}</p>
          <Button type="submit" tone="primary" autoFocus>
            {offer.name === null ? texts.signInWithToken : texts.staySignedIn}
          </Button>
          <Button isBusy={isBusy} onClick={() => void enter(offer.link)}>
            {texts.useLink}
          </Button>
        </form>
      </main>
    );
  }
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <Mark size={44} />
        <h1>{texts.signInToSwitchyard}</h1>
        <p className="soft">{texts.product}</p>
        {error !== null && !error.isOfToken && (
          <p className="problem" role="alert">
            {error.message}
          </p>
        )}
        {note !== null && <p className="note">{note}</p>}
        <ProviderButtons onProblem={(message) => setError(message === null ? null : { isOfToken: false, message })} />
        <TextField
          ref={field}
          autoFocus
          label={common.token}
          type="password"
          name="token"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder={texts.tokenPlaceholder}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          error={error?.isOfToken ? error.message : null}
          hint={texts.tokenHint}
        />
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {texts.signIn}
        </Button>
        {!isInvited && (
          <p className="note">
            <RichText
              text={texts.lostToken}
              slots={{
                npmRunToken: <code>npm run token</code>,
                npxToken: <code>npx --no -- switchyard token</code>,
              }}
            />
          </p>
        )}
      </form>
    </main>
  );
}
