import { common } from '../../texts/common.ts';
import { appCallbackPage as texts } from '../../texts/git-connections.ts';
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
import { useTakenQuery } from './use-taken-query.ts';

interface StoredApp {
  readonly name: string;
  readonly installationUrl: string;
}

/**
 * `/manage/git/github-app`: the page to which GitHub leads the browser after it has created an App. Stores the App, once, and leads on to its
 * installation.
 */
export function AppCallbackPage() {
  const { code, state } = useTakenQuery(['code', 'state']);
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
    if (code === null || state === null) return setProblem(texts.noCode);
    setProblem(null);
    const { payload, errors } = await complete({ input: { code, state } });
    const { gitConnection, installationUrl } = payload ?? {};
    if (gitConnection != null && installationUrl != null) setApp({ name: gitConnection.name, installationUrl });
    else setProblem(errors?.map(({ message }) => message).join(' ') ?? texts.notStored);
  }, [code, state, complete]);
  useOnce(run);
  return (
    <Page title={texts.githubApp}>
      <section className="card sheet git-steps">
        {app !== null ? (
          <>
            <p role="status">{texts.connected({ name: visible(app.name) })}</p>
            <p>{texts.installText}</p>
            <p>
              <a className="button primary normal" href={safeAddress(app.installationUrl)}>
                {texts.install}
              </a>{' '}
              <Link href="/manage/git">{texts.later}</Link>
            </p>
          </>
        ) : problem !== null ? (
          <>
            <p role="alert">{visible(problem)}</p>
            <p>
              {code !== null && state !== null && (
                <Button isBusy={isBusy} onClick={() => void run()}>
                  {common.tryAgain}
                </Button>
              )}{' '}
              <Link href="/manage/git">{texts.gitSettings}</Link>
            </p>
          </>
        ) : (
          <p role="status">{texts.storing}</p>
        )}
      </section>
    </Page>
  );
}
