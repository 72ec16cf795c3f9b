import { useState } from 'react';
import { Link } from 'wouter';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { agentsPage as texts } from '../../texts/agents.ts';
import { common } from '../../texts/common.ts';
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
    return <Empty title={texts.noAccess} text={texts.noAccessText} />;
  }
  const columns: readonly Column<Program>[] = [
    {
      label: common.agent,
      cell: ({ name, packageName }) => (
        <span className="agent-name">
          <span className="row-link">{name}</span>
          <span className="under">{packageName}</span>
        </span>
      ),
    },
    { label: texts.version, cell: (program) => <ProgramState program={program} /> },
    { label: texts.modelKey, cell: (program) => <KeyCell program={program} /> },
    { label: texts.lastCheck, cell: (program) => <CheckCell program={program} onReport={setReported} /> },
    actionsColumn((program) => {
      const { agentId, name, isOutdated, canInstall, source } = program;
      if (isBusy(program)) return null;
      const isWaiting = isStarting(agentId);
      const isInstalled = source != null;
      return (
        <>
          {isInstalled && (
            <Button
              size="small"
              isBusy={isWaiting}
              aria-label={texts.checkName({ name })}
              onClick={() => void check(agentId)}
            >
              {texts.check}
            </Button>
          )}
          {canInstall && (!isInstalled || isOutdated) && (
            <Button
              size="small"
              isBusy={isWaiting}
              aria-label={isInstalled ? texts.updateName({ name }) : texts.installName({ name })}
              onClick={() => void install(agentId)}
            >
              {isInstalled ? texts.update : texts.install}
            </Button>
          )}
          {canInstall && source === 'AGENTS_DIRECTORY' && (
            <Button
              size="small"
              tone="danger"
              aria-label={common.removeName({ name })}
              onClick={() => setLeaving(program)}
            >
              {common.remove}
            </Button>
          )}
        </>
      );
    }),
  ];
  const checked = programs.find(({ agentId }) => agentId === reported);
  return (
    <Page title={texts.agents}>
      <p className="lead">{texts.intro}</p>
      <CannotInstall programs={programs} />
      <ProgressAnnouncer programs={programs} />
      <div className="card">
        <Table label={texts.agents} columns={columns} rows={programs} keyOf={({ agentId }) => agentId} />
      </div>
      {checked?.lastCheck && (
        <CheckReport name={checked.name} check={checked.lastCheck} onClose={() => setReported(null)} />
      )}
      {leaving && (
        <ConfirmAction
          title={common.removeNameTitle({ name: leaving.name })}
          text={texts.removeText}
          confirmLabel={common.remove}
          successMessage={texts.removing({ name: leaving.name })}
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
        <Link href="/manage/model-keys">{texts.addModelKey}</Link>
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
          {texts.checking}
        </Badge>
        {progress && <span className="under">{visible(progress)}</span>}
      </span>
    );
  }
  if (source == null) return null;
  if (!lastCheck) return <span className="soft">{common.never}</span>;
  return (
    <span>
      <Badge tone={lastCheck.isOk ? 'good' : 'bad'}>{lastCheck.isOk ? texts.passed : common.failed}</Badge>
      <span className="under">
        <Time at={lastCheck.at} /> ·{' '}
        <button
          type="button"
          className="as-link"
          aria-label={texts.reportOf({ name })}
          onClick={() => onReport(agentId)}
        >
          {texts.report}
        </button>
      </span>
    </span>
  );
}
