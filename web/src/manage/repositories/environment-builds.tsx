import { useMemo, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  environmentBuilds_repository$data,
  environmentBuilds_repository$key,
} from '../../__generated__/environmentBuilds_repository.graphql.ts';
import type { environmentBuildsDeleteMutation } from '../../__generated__/environmentBuildsDeleteMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { plainTitle } from '../../session/plain-title.ts';
import { common } from '../../texts/common.ts';
import { environmentBuilds as texts } from '../../texts/repositories.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { writeSize } from '../../ui/size.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';
import { useBuildPolling } from './use-build-environment.ts';

type Build = environmentBuilds_repository$data['environmentBuilds'][number];

const states = {
  QUEUED: { label: texts.queued, tone: 'plain' },
  BUILDING: { label: texts.running, tone: 'info' },
  READY: { label: texts.ready, tone: 'good' },
  FAILED: { label: common.failed, tone: 'bad' },
} as const;

const triggers = texts.triggers;

interface EnvironmentBuildsProps {
  readonly repository: environmentBuilds_repository$key;
  readonly mayDelete: boolean;
}

const keyOf = ({ startedAt, session }: Build) => `${startedAt} ${session?.sessionId ?? ''}`;

/** The set-ups of a repository, with their logs. */
export function EnvironmentBuilds({ repository, mayDelete }: EnvironmentBuildsProps) {
  const { repositoryId, host, path, environmentBuilds } = useFragment(
    graphql`
      fragment environmentBuilds_repository on Repository {
        repositoryId
        host
        path
        environmentBuilds {
          state
          trigger
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
  // The log of a set-up that runs becomes longer, so the shown one is found again.
  const [shownKey, setShownKey] = useState<string | null>(null);
  const shown = environmentBuilds.find((build) => keyOf(build) === shownKey);
  const { organization } = useSigned();
  const organizationId = organization?.organizationId ?? '';
  const variables = useMemo(() => ({ organizationId, path: `${host}/${path}` }), [organizationId, host, path]);
  useBuildPolling(
    variables,
    environmentBuilds.some(({ state }) => state === 'QUEUED' || state === 'BUILDING'),
  );
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
  if (environmentBuilds.length === 0) return <p className="hint">{texts.empty}</p>;
  const columns: readonly Column<Build>[] = [
    {
      label: common.status,
      cell: ({ state }) => {
        const { label, tone } = states[state as keyof typeof states] ?? { label: common.unknown, tone: 'plain' };
        return <Badge tone={tone}>{label}</Badge>;
      },
    },
    { label: common.trigger, cell: ({ trigger }) => triggers[trigger as keyof typeof triggers] ?? common.other },
    { label: texts.commit, cell: ({ commit }) => <code>{commit.slice(0, 10)}</code> },
    {
      label: common.session,
      cell: ({ session }) =>
        session && <Link href={sessionAddress(session.sessionId)}>{plainTitle(session.title)}</Link>,
    },
    { label: common.organization, cell: ({ organization }) => organization && visible(organization.name) },
    { label: common.size, isNumber: true, cell: ({ state, bytes }) => state === 'READY' && writeSize(bytes) },
    { label: texts.started, cell: ({ startedAt }) => <Time at={startedAt} /> },
    { label: texts.lastUsed, cell: ({ usedAt }) => <Time at={usedAt} /> },
    actionsColumn((build) =>
      build.log ? (
        <Button
          size="small"
          aria-label={texts.showLog({ commit: build.commit.slice(0, 10) })}
          onClick={() => setShownKey(keyOf(build))}
        >
          {texts.log}
        </Button>
      ) : null,
    ),
  ];
  return (
    <>
      <h3>{texts.setUps}</h3>
      <Table label={texts.setUps} columns={columns} rows={environmentBuilds} keyOf={keyOf} />
      {mayDelete && (
        <div className="buttons">
          <Button tone="danger" onClick={() => setDeleting(true)}>
            {texts.deleteAllResults}
          </Button>
        </div>
      )}
      {shown && (
        <Dialog title={texts.logTitle} size="large" onClose={() => setShownKey(null)}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long log scrolls by the keyboard. */}
          <pre className="code" tabIndex={0}>
            {visible(shown.log ?? '')}
          </pre>
        </Dialog>
      )}
      {isDeleting && (
        <ConfirmAction
          title={texts.deleteTitle({ path })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={texts.deleted}
          run={() => remove({ input: { repositoryId } })}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}
