import { programState as texts } from '../../texts/agents.ts';
import './agents.css';
import type { programFragment_program$data } from '../../__generated__/programFragment_program.graphql.ts';
import { Badge } from '../../ui/badge.tsx';
import { visible } from '../../ui/visible.ts';

/** A program of an agent. */
export type Program = programFragment_program$data[number];

/** Returns true while the service installs or removes it. */
export const isChanging = ({ state }: Program): boolean => state === 'INSTALLING' || state === 'REMOVING';

/** Returns true while the service changes or checks it. */
export const isBusy = (program: Program): boolean => isChanging(program) || program.isChecking;

interface ProgramStateProps {
  readonly program: Program;
  /** True to leave out that it is not installed. */
  readonly isShort?: boolean;
}

/** The state of a program, with the progress of its installation or the error of the last one. */
export function ProgramState({ program, isShort = false }: ProgramStateProps) {
  const { error, installedVersion, isOutdated, pinnedVersion, source, path } = program;
  if (isChanging(program)) return <Progress program={program} />;
  return (
    <span className="program-state">
      {source == null
        ? !isShort && <span className="soft">{texts.notInstalled}</span>
        : visible(installedVersion ?? texts.unknownVersion)}{' '}
      {isOutdated && <Badge tone="warn">{texts.versionAvailable({ pinnedVersion })}</Badge>}
      {source === 'PATH' && path && <span className="under">{texts.foundInPath({ path: visible(path) })}</span>}
      {source === 'AGENTS_DIRECTORY' && <span className="under">{texts.installedBySwitchyard}</span>}
      {error && <span className="under problem">{visible(error)}</span>}
    </span>
  );
}

function Progress({ program: { state, name, progress, progressPercent } }: { readonly program: Program }) {
  return (
    <span className="program-state">
      <Badge tone="info" isWorking>
        {state === 'INSTALLING' ? texts.installing : texts.removing}
      </Badge>
      {progressPercent != null && (
        <span
          className="meter"
          role="progressbar"
          aria-label={texts.installationOf({ name })}
          aria-valuenow={progressPercent}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ width: `${progressPercent}%` }} />
        </span>
      )}
      {progress && <span className="under">{visible(progress)}</span>}
    </span>
  );
}

/** Says why agents cannot be installed, if so. */
export function CannotInstall({ programs }: { readonly programs: readonly Program[] }) {
  if (programs.some(({ canInstall }) => canInstall)) return null;
  return (
    <p className="banner quiet" role="note">
      {programs.some(({ hosts }) => hosts.length > 0) ? texts.installationOff : texts.noWorker}
    </p>
  );
}
