import { useState } from 'react';
import { Link } from 'wouter';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';
import { CheckReport } from './check-report.tsx';
import { keySourceText } from './key-source.ts';
import { CannotInstall, isBusy, type Program, ProgramState } from './program-state.tsx';
import { ProgressAnnouncer } from './progress-announcer.tsx';
import { useProgramActions } from './use-program-actions.ts';
import { usePrograms } from './use-programs.ts';

/** `/manage/agents`: the programs of the ready agents, which can be installed, checked and removed. */
export function AgentsPage() {
  const { organization } = useSigned();
  const programs = usePrograms(organization?.organizationId ?? null);
  const { install, remove, check, isStarting } = useProgramActions();
  const [reported, setReported] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<Program | null>(null);
  if (programs === null) {
    return (
      <Empty title="No access to agents" text="You need the permission to change the settings of the enterprise." />
    );
  }
  const columns: readonly Column<Program>[] = [
    {
      label: 'Agent',
      cell: ({ name, packageName }) => (
        <span className="agent-name">
          <span className="row-link">{name}</span>
          <span className="under">{packageName}</span>
        </span>
      ),
    },
    { label: 'Version', cell: (program) => <ProgramState program={program} /> },
    { label: 'Model key', cell: (program) => <KeyCell program={program} /> },
    { label: 'Last check', cell: (program) => <CheckCell program={program} onReport={setReported} /> },
    actionsColumn((program) => {
      const { agentId, name, isOutdated, canInstall, source } = program;
      if (isBusy(program)) return null;
      const isWaiting = isStarting(agentId);
      const isInstalled = source != null;
      return (
        <>
          {isInstalled && (
            <Button size="small" isBusy={isWaiting} aria-label={`Check ${name}`} onClick={() => void check(agentId)}>
              Check
            </Button>
          )}
          {canInstall && (!isInstalled || isOutdated) && (
            <Button
              size="small"
              isBusy={isWaiting}
              aria-label={`${isInstalled ? 'Update' : 'Install'} ${name}`}
              onClick={() => void install(agentId)}
            >
              {isInstalled ? 'Update' : 'Install'}
            </Button>
          )}
          {canInstall && source === 'AGENTS_DIRECTORY' && (
            <Button size="small" tone="danger" aria-label={`Remove ${name}`} onClick={() => setLeaving(program)}>
              Remove
            </Button>
          )}
        </>
      );
    }),
  ];
  const checked = programs.find(({ agentId }) => agentId === reported);
  return (
    <Page title="Agents">
      <p className="lead">
        Switchyard runs these coding agents. It installs a tested version from npm on the machine of the service, and
        also finds programs in PATH.
      </p>
      <CannotInstall programs={programs} />
      <ProgressAnnouncer programs={programs} />
      <div className="card">
        <Table label="Agents" columns={columns} rows={programs} keyOf={({ agentId }) => agentId} />
      </div>
      {checked?.lastCheck && (
        <CheckReport name={checked.name} check={checked.lastCheck} onClose={() => setReported(null)} />
      )}
      {leaving && (
        <ConfirmAction
          title={`Remove ${leaving.name}?`}
          text="New sessions cannot use this agent. Sessions that use it now fail at their next turn."
          confirmLabel="Remove"
          successMessage={`Removing ${leaving.name}.`}
          run={() => remove(leaving.agentId)}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}

function KeyCell({ program: { keySource, source } }: { readonly program: Program }) {
  // Its key says nothing to somebody who cannot use the agent yet.
  if (source == null) return null;
  if (keySource !== 'NONE') return keySourceText(keySource);
  return (
    <span>
      <Badge tone="warn">{keySourceText('NONE')}</Badge>
      <span className="under">
        <Link href="/manage/model-keys">Add a model key</Link>
      </span>
    </span>
  );
}

interface CheckCellProps {
  readonly program: Program;
  readonly onReport: (agentId: string) => void;
}

function CheckCell({ program: { agentId, name, lastCheck, isChecking, progress, source }, onReport }: CheckCellProps) {
  if (isChecking) {
    return (
      <span className="program-state">
        <Badge tone="info" isWorking>
          Checking
        </Badge>
        {progress && <span className="under">{visible(progress)}</span>}
      </span>
    );
  }
  if (source == null) return null;
  if (!lastCheck) return <span className="soft">Never</span>;
  return (
    <span>
      <Badge tone={lastCheck.isOk ? 'good' : 'bad'}>{lastCheck.isOk ? 'Passed' : 'Failed'}</Badge>
      <span className="under">
        <Time at={lastCheck.at} /> ·{' '}
        <button type="button" className="as-link" aria-label={`Report of ${name}`} onClick={() => onReport(agentId)}>
          Report
        </button>
      </span>
    </span>
  );
}
