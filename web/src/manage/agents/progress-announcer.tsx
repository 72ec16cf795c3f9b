import { useEffect, useRef, useState } from 'react';
import { progressAnnouncer as texts } from '../../texts/agents.ts';
import type { Program } from './program-state.tsx';

/** Tells screen readers when an installation, a removal or a check begins and ends. The lines between are not announced. */
export function ProgressAnnouncer({ programs }: { readonly programs: readonly Program[] }) {
  const before = useRef(new Map<string, Program>());
  const [text, setText] = useState('');
  useEffect(() => {
    const changes = programs.flatMap((program) => changeOf(before.current.get(program.agentId), program) ?? []);
    before.current = new Map(programs.map((program) => [program.agentId, program]));
    if (changes.length > 0) setText(changes.join(' '));
  }, [programs]);
  return (
    <p className="for-readers" role="status">
      {text}
    </p>
  );
}

function changeOf(before: Program | undefined, program: Program): string | null {
  if (before === undefined) return null;
  const { name, state, installedVersion, error, lastCheck } = program;
  if (before.isChecking && !program.isChecking) {
    return lastCheck?.isOk ? texts.checkHasPassed({ name }) : texts.checkHasFailed({ name });
  }
  if (!before.isChecking && program.isChecking) return texts.checking({ name });
  if (before.state === state) return null;
  if (state === 'INSTALLING') return texts.installing({ name });
  if (state === 'REMOVING') return texts.removing({ name });
  if (state === 'FAILED') return `${name}: ${error ?? texts.installationFailed}`;
  return state === 'INSTALLED'
    ? texts.installed({ name, installedVersion: installedVersion ?? '' })
    : texts.removed({ name });
}
