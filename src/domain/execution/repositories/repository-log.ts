import { cleanText } from '../../../agents/git-gateway/refusals.ts';
import type { PushedRef, PushReport } from '../../../agents/git-gateway/repositories.ts';
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

/** Makes the log entry of a ref that the forge accepted, or that the gateway or the forge refused. */
export function pushEntry({ repository }: PushReport, ref: PushedRef, subjects: readonly string[]): NewEntry {
  const branch = branchOf(ref.ref) ?? ref.ref;
  const refusal = ref.outcome === 'accepted' ? null : cleanText(ref.reason ?? 'The forge gave no reason.');
  return {
    kind: 'PUSH',
    data: { repository: nameOf(repository), branch, old: ref.oldId, new: ref.newId, subjects, refusal },
  };
}

/** Maximum number of refused refs of one push that the log names. */
const maxRefusals = 3;

/** Returns the refs of a push that the log names: the accepted ones, and the first of the refused ones. */
export function loggedRefs(refs: readonly PushedRef[]): readonly PushedRef[] {
  const refused = refs.filter(({ outcome }) => outcome === 'refused' || outcome === 'rejected');
  return [...refs.filter(({ outcome }) => outcome === 'accepted'), ...refused.slice(0, maxRefusals)];
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
