import { cleanText } from '../../../agents/git-gateway/refusals.ts';
import type { MissingPart } from '../../../checkpoints/driver.ts';
import { missingReasons } from '../../checkpoints/missing-text.ts';
import type { NewEntry } from '../../sessions/log.ts';
import { spellTime } from '../../times.ts';
import type { RestorableCheckpoint } from './restore-candidates.ts';

/** The outcome of a restore, for its notice. */
export interface RestoredState extends Pick<RestorableCheckpoint, 'id' | 'content' | 'missing' | 'takenAt'> {
  readonly files: number;
  /** True if another worker had the session before. */
  readonly isMoved: boolean;
  /** The number of newer checkpoints that could not be restored. */
  readonly damaged: number;
}

/** Maximum number of missing parts that are named. */
const maxNamed = 10;

/** Makes the log entry of a restore. Its `agentNote` is for the agent's next prompt. */
export function restoredNotice(state: RestoredState, mask: (text: string) => string): NewEntry {
  const { id, files, isMoved, damaged, takenAt } = state;
  const at = spellTime(takenAt);
  const missing = missingText(state, mask);
  const lost =
    damaged === 0
      ? ''
      : damaged === 1
        ? ' One newer saved state is damaged and was not used.'
        : ` ${damaged} newer saved states are damaged and were not used.`;
  const who = isMoved ? 'Another worker has taken the session over. ' : '';
  return {
    kind: 'NOTICE',
    body: `${who}The workspace was restored to its state at ${at}.${lost}${missing}`,
    data: {
      isWarning: lost !== '' || missing !== '',
      workspace: { state: 'restored', checkpointId: id, at: takenAt.toISOString(), files, damaged },
      agentNote: `Your workspace and home were restored to their state at ${at}. Processes that ran before are gone, and work after that time is missing.${lost}${missing}`,
    },
  };
}

/** Makes the log entry of a start with an empty workspace that should not have been empty. */
export function emptyNotice(reason: string): NewEntry {
  return {
    kind: 'NOTICE',
    body: `The session starts with an empty workspace: ${reason}`,
    data: { isWarning: true, workspace: { state: 'empty' }, agentNote: `Your workspace and home are empty: ${reason}` },
  };
}

function missingText({ missing, content }: RestoredState, mask: (text: string) => string): string {
  const named = missing.slice(0, maxNamed).map((part) => `${nameOf(part, mask)} (${missingReasons[part.reason]})`);
  const more = missing.length - named.length;
  const parts = [...named, ...(more > 0 ? [`${more} more`] : [])];
  const ignored = content.ignored === null ? ' Files that git ignores were not saved yet, so they are missing.' : '';
  return (parts.length > 0 ? ` These parts are missing: ${parts.join(', ')}.` : '') + ignored;
}

// An agent may give files any name.
function nameOf({ path }: MissingPart, mask: (text: string) => string): string {
  return mask(cleanText(path)).slice(0, 200);
}
