import { useState } from 'react';
import { keySourceText } from '../manage/agents/key-source.ts';
import { CannotInstall, isChanging, type Program, ProgramState } from '../manage/agents/program-state.tsx';
import { ProgressAnnouncer } from '../manage/agents/progress-announcer.tsx';
import { useProgramActions } from '../manage/agents/use-program-actions.ts';
import { providerLabel } from '../manage/model-keys/providers.ts';
import { agentStep as texts } from '../texts/getting-started.ts';
import { Button } from '../ui/button.tsx';

interface AgentStepProps {
  /** The names of the agents besides the demo agent. */
  readonly names: readonly string[];
  readonly programs: readonly Program[];
}

/** The first step: an agent. */
export function AgentStep({ names, programs }: AgentStepProps) {
  const [isOpen, setOpen] = useState(false);
  const isDone = names.length > 0;
  const canInstall = programs.some((program) => program.canInstall);
  return (
    <>
      <ProgressAnnouncer programs={programs} />
      {isDone ? (
        <p className="step-result">
          <span>{listed(names)}</span>
          {canInstall && (
            <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? texts.hideOtherAgents : texts.otherAgents}
            </Button>
          )}
        </p>
      ) : (
        <p>{canInstall ? texts.chooseAgent : texts.installOnServer}</p>
      )}
      {!isDone && <CannotInstall programs={programs} />}
      {canInstall && (!isDone || isOpen) && <Programs programs={programs} />}
    </>
  );
}

function Programs({ programs }: { readonly programs: readonly Program[] }) {
  const { install, isStarting } = useProgramActions();
  return (
    <ul className="choices">
      {programs.map((program) => {
        const { agentId, name, source, error } = program;
        const isShown = isChanging(program) || source != null || error != null;
        return (
          <li key={agentId}>
            <div>
              <b>{name}</b>
              <span className="under">{keyText(program)}</span>
              {isShown && <ProgramState program={program} isShort />}
            </div>
            {source == null && !isChanging(program) && (
              <Button
                isBusy={isStarting(agentId)}
                aria-label={texts.installName({ name })}
                onClick={() => void install(agentId)}
              >
                {texts.install}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function keyText({ keySource, providers }: Program): string {
  if (keySource !== 'NONE') return texts.key({ keySource: keySourceText(keySource) });
  if (providers.length === 0) return texts.serverKeyNeeded;
  return texts.keys({ providers: providers.map(providerLabel).join(', ') });
}

const list = new Intl.ListFormat('en');
const listed = (names: readonly string[]) => list.format(names);
