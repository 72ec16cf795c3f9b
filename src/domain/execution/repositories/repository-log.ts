import { cleanText } from '../../../agents/git-gateway/refusals.ts';
import type { PushedRef, PushReport } from '../../../agents/git-gateway/repositories.ts';
import type { PushedCommits } from '../../../git/clone.ts';
import type { GitProgress } from '../../../git/progress.ts';
import { branchOf } from '../../../git/ref-names.ts';
import type { Context } from '../../context.ts';
import { appendEntries, type NewEntry } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { nameOf } from './gateway-access.ts';
import type { SessionRepositoryRow } from './session-repositories.ts';

/** Appends an entry of a run, and wakes the session's subscribers. Throws FencedError. */
export async function appendRepositoryEntry(context: Context, run: ClaimedRun, entry: NewEntry): Promise<void> {
  await appendEntries(context.store, run.sessionId, run.generation, [entry], context.now());
  context.notifier.notify(`session:${run.sessionId}`);
}

/** Makes the log entry of a repository's step. */
export function stepEntry(
  row: SessionRepositoryRow,
  state: SessionRepositoryRow['state'],
  { percent = null, text = null }: { readonly percent?: number | null; readonly text?: string | null } = {},
): NewEntry {
  return { kind: 'REPOSITORY', data: { repository: nameOf(row), state, percent, text } };
}

/**
 * Makes the log entry of a clone from another worker that lacks objects. Its `agentNote` is for the agent's next prompt; the
 * reason may quote the forge.
 */
export function incompleteNotice(row: SessionRepositoryRow, reason: string): NewEntry {
  const text = `The repository ${nameOf(row)} came from another worker and lacks git objects: ${cleanText(reason)} Its files are complete; commands that need its history, such as git log, git status and git commit, may fail.`;
  return {
    kind: 'NOTICE',
    body: `${text} The next start tries again.`,
    data: { agentNote: `${text} You can read and edit its files.` },
  };
}

const outcomes = { accepted: 'ACCEPTED', rejected: 'REFUSED', refused: 'REFUSED', unknown: 'UNKNOWN' } as const;

/** Makes the log entry of a ref of a push. */
export function pushEntry({ repository }: PushReport, ref: PushedRef, commits: PushedCommits): NewEntry {
  const branch = branchOf(ref.ref) ?? ref.ref;
  const refusal = ref.outcome === 'accepted' ? null : cleanText(ref.reason ?? 'The forge gave no reason.');
  const outcome = outcomes[ref.outcome];
  return {
    kind: 'PUSH',
    data: { repository: nameOf(repository), branch, old: ref.oldId, new: ref.newId, ...commits, outcome, refusal },
  };
}

/** Maximum number of refused refs of one push that the log names. */
const maxRefusals = 3;

/** Returns the refs of a push that the log names, in their order: all but refused ones after the first three. */
export function loggedRefs(refs: readonly PushedRef[]): readonly PushedRef[] {
  const isRefused = ({ outcome }: PushedRef) => outcome === 'refused' || outcome === 'rejected';
  const omitted = new Set(refs.filter(isRefused).slice(maxRefusals));
  return refs.filter((ref) => !omitted.has(ref));
}

const progressMs = 1_000;

/**
 * Creates a receiver of git's progress that passes on at most one step in a second, and only steps that differ from the
 * last one.
 */
export function createProgressPace(
  now: () => number,
  onStep: (step: { readonly percent: number; readonly text: string }) => void,
): (progress: GitProgress) => void {
  let last: { at: number; phase: string; percent: number } | null = null;
  return ({ phase, percent }) => {
    const at = now();
    if (last !== null && (at - last.at < progressMs || (last.phase === phase && last.percent === percent))) return;
    // A clone that takes less than a second needs no progress.
    const isFirst = last === null;
    last = { at, phase, percent };
    if (!isFirst) onStep({ percent, text: phase });
  };
}
