import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  environmentBuilds_repository$data,
  environmentBuilds_repository$key,
} from '../../__generated__/environmentBuilds_repository.graphql.ts';
import type { environmentBuildsDeleteMutation } from '../../__generated__/environmentBuildsDeleteMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { plainTitle } from '../../session/plain-title.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { writeSize } from '../../ui/size.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';

type Build = environmentBuilds_repository$data['environmentBuilds'][number];

const states = {
  BUILDING: { label: 'Running', tone: 'info' },
  READY: { label: 'Ready', tone: 'good' },
  FAILED: { label: 'Failed', tone: 'bad' },
} as const;

interface EnvironmentBuildsProps {
  readonly repository: environmentBuilds_repository$key;
  readonly mayDelete: boolean;
}

/** The set-ups of a repository, with their logs. */
export function EnvironmentBuilds({ repository, mayDelete }: EnvironmentBuildsProps) {
  const { repositoryId, path, environmentBuilds } = useFragment(
    graphql`
      fragment environmentBuilds_repository on Repository {
        repositoryId
        path
        environmentBuilds {
          state
          commit
          bytes
          log
          startedAt
          usedAt
          organization {
            name
          }
          session {
            sessionId
            title
          }
        }
      }
    `,
    repository,
  );
  const [shown, setShown] = useState<Build | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const [remove] = useMutation<environmentBuildsDeleteMutation>(graphql`
    mutation environmentBuildsDeleteMutation($input: DeleteEnvironmentBuildsInput!) {
      deleteEnvironmentBuilds(input: $input) {
        repository {
          ...environmentBuilds_repository
        }
        userErrors {
          message
        }
      }
    }
  `);
  if (environmentBuilds.length === 0) return <p className="hint">No session has run a set-up yet.</p>;
  const columns: readonly Column<Build>[] = [
    {
      label: 'State',
      cell: ({ state }) => {
        const { label, tone } = states[state as keyof typeof states] ?? { label: 'Unknown', tone: 'plain' };
        return <Badge tone={tone}>{label}</Badge>;
      },
    },
    { label: 'Commit', cell: ({ commit }) => <code>{commit.slice(0, 10)}</code> },
    {
      label: 'Session',
      cell: ({ session }) =>
        session && <Link href={sessionAddress(session.sessionId)}>{plainTitle(session.title)}</Link>,
    },
    { label: 'Organization', cell: ({ organization }) => organization && visible(organization.name) },
    { label: 'Size', isNumber: true, cell: ({ state, bytes }) => state === 'READY' && writeSize(bytes) },
    { label: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { label: 'Last used', cell: ({ usedAt }) => <Time at={usedAt} /> },
    actionsColumn((build) =>
      build.log ? (
        <Button
          size="small"
          aria-label={`Show the log of the set-up at ${build.commit.slice(0, 10)}`}
          onClick={() => setShown(build)}
        >
          Log
        </Button>
      ) : null,
    ),
  ];
  return (
    <>
      <h3>Set-ups</h3>
      <Table
        label="Set-ups"
        columns={columns}
        rows={environmentBuilds}
        keyOf={({ startedAt, commit }) => `${startedAt} ${commit}`}
      />
      {mayDelete && (
        <div className="buttons">
          <Button tone="danger" onClick={() => setDeleting(true)}>
            Delete all results
          </Button>
        </div>
      )}
      {shown && (
        <Dialog title="Log of the set-up" size="large" onClose={() => setShown(null)}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long log scrolls by the keyboard. */}
          <pre className="code" tabIndex={0}>
            {visible(shown.log ?? '')}
          </pre>
        </Dialog>
      )}
      {isDeleting && (
        <ConfirmAction
          title={`Delete all set-up results of ${path}?`}
          text="The next session of each organization sets the repository up again. Sessions that started with a result keep their files."
          confirmLabel="Delete"
          successMessage="Deleted the results."
          run={() => remove({ input: { repositoryId } })}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}
