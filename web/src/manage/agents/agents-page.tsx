import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentKeySource } from '../../__generated__/programFragment_program.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { demoAgentId } from '../../getting-started/setup-state.ts';
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

type Agent = NonNullable<ReturnType<typeof usePrograms>>['others'][number];

/** A row: an agent whose program can be installed, or another agent, which has none. */
type Row = { readonly agentId: string; readonly name: string } & (
  | { readonly program: Program; readonly agent: null }
  | { readonly program: null; readonly agent: Agent }
);

/** `/manage/agents`: the agents of sessions. The programs of the ready ones can be installed, checked and removed. */
export function AgentsPage() {
  const { organization } = useSigned();
  const found = usePrograms(organization?.organizationId ?? null);
  const { install, remove, check, isStarting } = useProgramActions();
  const [reported, setReported] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<Program | null>(null);
  if (found === null) {
    return <Empty title={texts.noAccess} text={texts.noAccessText} />;
  }
  const { programs, others, defaultId } = found;
  const rows: readonly Row[] = [
    ...programs.map((program) => ({ agentId: program.agentId, name: program.name, program, agent: null })),
    ...others.map((agent) => ({ agentId: agent.agentId, name: agent.name, program: null, agent })),
  ];
  const columns: readonly Column<Row>[] = [
    {
      label: common.agent,
      cell: ({ agentId, name, program }) => (
        <span className="agent-name">
          <span className="row-link">{visible(name)}</span>{' '}
          {agentId === defaultId && <Badge tone="info">{common.default}</Badge>}
          <span className="under">{program?.packageName ?? originOf(agentId)}</span>
        </span>
      ),
    },
    {
      label: texts.version,
      cell: ({ program, agent }) =>
        program ? <ProgramState program={program} /> : agent.programVersion && visible(agent.programVersion),
    },
    {
      label: texts.modelKey,
      cell: ({ program, agent }) => {
        // Its key says nothing to somebody who cannot use the agent yet.
        const keySource = program ? (program.source == null ? null : program.keySource) : agent.keySource;
        return keySource && <KeyCell keySource={keySource} />;
      },
    },
    {
      label: texts.lastCheck,
      cell: ({ program }) => program && <CheckCell program={program} onReport={setReported} />,
    },
    actionsColumn(({ program }) => {
      if (program === null || isBusy(program)) return null;
      const { agentId, name, isOutdated, canInstall, source } = program;
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
        <Table label={texts.agents} columns={columns} rows={rows} keyOf={({ agentId }) => agentId} />
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

/** Says where an agent without a program comes from. */
const originOf = (agentId: string) => (agentId === demoAgentId ? texts.builtIn : texts.ofOperator);

function KeyCell({ keySource }: { readonly keySource: AgentKeySource }) {
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
