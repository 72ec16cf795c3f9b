import '../kit/manage.css';
import './git.css';
import { useCallback, useState } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { appCallbackPageMutation } from '../../__generated__/appCallbackPageMutation.graphql.ts';
import { Page } from '../../layout/page.tsx';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { safeAddress } from '../../ui/safe-address.ts';
import { useOnce } from '../../ui/use-once.ts';
import { visible } from '../../ui/visible.ts';
import { takeQuery } from './take-query.ts';

interface StoredApp {
  readonly name: string;
  readonly installationUrl: string;
}

/**
 * `/manage/git/github-app`: the page to which GitHub leads the browser after it has created an App. Stores the App, once, and leads on to its
 * installation.
 */
export function AppCallbackPage() {
  const [{ code, state }] = useState(() => takeQuery(['code', 'state']));
  const [app, setApp] = useState<StoredApp | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [complete, isBusy] = useSecretMutation<appCallbackPageMutation>(graphql`
    mutation appCallbackPageMutation($input: CompleteGithubAppRegistrationInput!) {
      completeGithubAppRegistration(input: $input) {
        installationUrl
        gitConnection {
          name
        }
        userErrors {
          message
        }
      }
    }
  `);
  const run = useCallback(async () => {
    if (code === null || state === null) return setProblem('GitHub sent no code. Start again.');
    setProblem(null);
    const { payload, errors } = await complete({ input: { code, state } });
    const { gitConnection, installationUrl } = payload ?? {};
    if (gitConnection != null && installationUrl != null) setApp({ name: gitConnection.name, installationUrl });
    else setProblem(errors?.map(({ message }) => message).join(' ') ?? 'The App could not be stored.');
  }, [code, state, complete]);
  useOnce(run);
  return (
    <Page title="GitHub App">
      <section className="card sheet git-steps">
        {app !== null ? (
          <>
            <p role="status">The App is created, and connected as {visible(app.name)}.</p>
            <p>Install it now, and choose the repositories that sessions may work on. GitHub leads you back here.</p>
            <p>
              <a className="button primary normal" href={safeAddress(app.installationUrl)}>
                Install the App
              </a>{' '}
              <Link href="/manage/git">Later</Link>
            </p>
          </>
        ) : problem !== null ? (
          <>
            <p role="alert">{visible(problem)}</p>
            <p>
              {code !== null && state !== null && (
                <Button isBusy={isBusy} onClick={() => void run()}>
                  Try again
                </Button>
              )}{' '}
              <Link href="/manage/git">Git settings</Link>
            </p>
          </>
        ) : (
          <p role="status">Storing the App…</p>
        )}
      </section>
    </Page>
  );
}
