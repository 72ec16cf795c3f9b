import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import type { EnvironmentDefinition } from '../../environments/definition.ts';

/** The outcome of a set-up in a workspace. NONE: there was nothing to run. */
export type SetUpOutcome = 'DONE' | 'FAILED' | 'NONE';

/** The environment of one clone in a workspace. */
export interface RecordedEnvironment {
  /** The hash of the set-up that has run; see `environment_build.hash`. */
  readonly hash: string;
  readonly outcome: SetUpOutcome;
  readonly definition: EnvironmentDefinition;
  /** True if the definition is stored in Switchyard. */
  readonly isStored: boolean;
}

/** The record of the environments in a workspace. It is saved and restored with it, and no agent can change it. */
export interface EnvironmentRecord {
  /** By the directories of the clones. */
  readonly clones: Readonly<Record<string, RecordedEnvironment>>;
  /** The clone of a stored result, which the session that starts with it must bring to its own commit and branch. */
  readonly lent?: { readonly directory: string; readonly commit: string };
  /** The clone that has the result of another session, until the first start of this session is prepared. */
  readonly result?: { readonly directory: string; readonly hash: string };
}

const recordName = 'environment';

type Records = Pick<WorkspaceFiles, 'readRecord' | 'writeRecord'>;

/** Reads the record of a workspace. Null: no environment was prepared in it. */
export async function readEnvironmentRecord(files: Records): Promise<EnvironmentRecord | null> {
  const text = await files.readRecord(recordName);
  return text ? (JSON.parse(text) as EnvironmentRecord) : null;
}

/** Writes the record of a workspace. */
export function writeEnvironmentRecord(files: Records, record: EnvironmentRecord): Promise<void> {
  return files.writeRecord(recordName, JSON.stringify(record));
}
