import { common } from '../../texts/common.ts';
import { appInstalledPage as texts } from '../../texts/git-connections.ts';
import '../kit/manage.css';
import './git.css';
import { useCallback, useState } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { appInstalledPageMutation } from '../../__generated__/appInstalledPageMutation.graphql.ts';
import { Page } from '../../layout/page.tsx';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { visible } from '../../ui/visible.ts';
import { TestResult } from './test-result.tsx';
import { useConnectionTest } from './use-connection-test.ts';
import { useTakenQuery } from './use-taken-query.ts';

/**
 * `/manage/git/:id/installed`: the page to which GitHub leads the browser after the installation of an App. Records the installation, which
 * the service asks GitHub about, and tests the connection.
 */
export function AppInstalledPage({ id }: { readonly id: string }) {
  const query = useTakenQuery(['installation_id', 'setup_action']);
  const [name, setName] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { test, isTesting, result } = useConnectionTest();
  const [complete, isBusy] = useSecretMutation<appInstalledPageMutation>(graphql`
    mutation appInstalledPageMutation($input: CompleteGithubAppInstallationInput!) {
      completeGithubAppInstallation(input: $input) {
        gitConnection {
          name
        }
        userErrors {
          message
        }
      }
    }
  `);
  const installationId = query.installation_id;
  const isRequest = query.setup_action === 'request';
  const run = useCallback(async () => {
    if (isRequest) return;
    setProblem(null);
    const { payload, errors } = await complete({ input: { gitConnectionId: id, installationId } });
    const connection = payload?.gitConnection;
    if (connection == null) {
      return setProblem(errors?.map(({ message }) => message).join(' ') ?? texts.notStored);
    }
    setName(connection.name);
    await test({ gitConnectionId: id });
  }, [id, installationId, isRequest, complete, test]);
  useOnce(run);
  return (
    <Page title={texts.githubApp}>
      <section className="card sheet git-steps">
        {isRequest ? (
          <p role="status">{texts.awaitsApproval}</p>
        ) : problem !== null ? (
          <>
            <p role="alert">{visible(problem)}</p>
            <p>
              <Button isBusy={isBusy} onClick={() => void run()}>
                {common.tryAgain}
              </Button>
            </p>
          </>
        ) : name === null ? (
          <p role="status">{texts.storing}</p>
        ) : (
          <>
            <p>{texts.installed({ name: visible(name) })}</p>
            <TestResult isTesting={isTesting} result={result} />
          </>
        )}
        <p>
          <Link href="/manage/git">{texts.gitSettings}</Link>
        </p>
      </section>
    </Page>
  );
}
