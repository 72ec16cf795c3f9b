import { cleanText } from '../../../agents/git-gateway/refusals.ts';
import type { GatewayRepository, GitRefusal, PushedRef, PushReport } from '../../../agents/git-gateway/repositories.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { PushedCommits, RefAfterPush } from '../../../git/clone.ts';
import { branchOf } from '../../../git/ref-names.ts';
import type { GitRemote } from '../../../git/remote.ts';
import type { Context } from '../../context.ts';
import { appendEntries, FencedError, type NewEntry } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { nameOf } from './gateway-access.ts';
import { addPendingPushes, auditPush, removePendingPushes } from './pending-pushes.ts';
import { loggedRefs, pushEntry } from './repository-log.ts';
import { mirrorKey, type PendingPush, type SessionRepositoryRow } from './session-repositories.ts';

/** Writes the pushes of one run to the log, each once, even if the service ends during a push. */
export interface PushLog {
  /** Records a push before the forge sees it. Refuses it if this run has lost its session. */
  begin(repository: GatewayRepository, refs: readonly PushRef[]): Promise<GitRefusal | null>;
  /** Takes a push at its end. */
  take(report: PushReport): void;
  /** Writes the outcomes of pushes that earlier runs could not write, as the forge has them now. Never rejects. */
  settlePending(row: SessionRepositoryRow, cloneUrl: string): Promise<void>;
  /** Resolves when all pushes so far are in the log. */
  settled(): Promise<void>;
}

type PushRef = Omit<PushedRef, 'outcome' | 'reason'>;

/** Options of {@link createPushLog}. */
export interface PushLogOptions {
  readonly sandbox: Sandbox;
  readonly enterpriseId: string;
  openRemote(repository: { readonly host: string; readonly path: string }): Promise<GitRemote>;
}

/** The time that one question to the forge after a push may take. */
const askMs = 20_000;

const noCommits: PushedCommits = { subjects: [], isForced: null };

/** Creates the log of a run's pushes. Entries are in the order of the pushes. */
export function createPushLog(context: Context, run: ClaimedRun, options: PushLogOptions): PushLog {
  let written: Promise<void> = Promise.resolve();
  const { sessionId, generation } = run;
  const ask = (repository: GatewayRepository) => ({
    repository: mirrorKey(options.enterpriseId, repository.host, repository.url),
    openRemote: () => options.openRemote(repository),
    signal: AbortSignal.timeout(askMs),
  });
  const readCommits = async ({ repository }: PushReport, pushed: PushedRef): Promise<PushedCommits> => {
    const { ref, oldId, newId, outcome } = pushed;
    if (newId === null || outcome !== 'accepted') return noCommits;
    const request = { ...ask(repository), from: oldId, to: newId, ref };
    return (await options.sandbox.readPushedCommits?.(request).catch(() => noCommits)) ?? noCommits;
  };
  // Null: the forge does not say it now.
  const findOutcome = async (repository: GatewayRepository, pushed: PushedRef): Promise<PushedRef | null> => {
    if (pushed.outcome !== 'unknown') return pushed;
    const { ref, oldId, newId } = pushed;
    const request = { ...ask(repository), ref, from: oldId, to: newId };
    const found = await options.sandbox.readPushedRef?.(request).catch(() => undefined);
    return found === undefined ? null : outcomeAt(pushed, found);
  };
  const write = async (report: PushReport) => {
    const { repository } = report;
    const found = await Promise.all(report.refs.map((ref) => findOutcome(repository, ref)));
    const known = acceptFollowed(found.filter((ref) => ref !== null));
    const entries: NewEntry[] = [];
    for (const ref of loggedRefs(known)) {
      entries.push(pushEntry(report, ref, await readCommits(report, ref)));
    }
    if (known.length === 0) return;
    await context.store.transact(async (tx) => {
      await appendEntries(tx, sessionId, generation, entries, context.now());
      await removePendingPushes(tx, { sessionId, repositoryId: repository.id }, known.map(keyOf));
      for (const { ref, oldId, newId } of known.filter(({ outcome }) => outcome === 'accepted')) {
        const data = {
          repository: nameOf(repository),
          branch: cleanText(branchOf(ref) ?? ref),
          old: oldId,
          new: newId,
        };
        await auditPush(context, tx, { sessionId, repositoryId: repository.id, data });
      }
    });
    context.notifier.notify(`session:${sessionId}`);
  };
  const writeOrLog = (report: PushReport) =>
    write(report).catch((error: unknown) => {
      if (error instanceof FencedError) return;
      context.log.error({ err: error, sessionId }, 'A push could not be written to the log.');
    });
  return {
    async begin(repository, refs) {
      const at = context.now().toISOString();
      const pending = Object.fromEntries(refs.map((ref) => [keyOf(ref), toPending(ref, at)]));
      const isWritten = await addPendingPushes(context, run, repository.id, pending).catch((error: unknown) => {
        context.log.error({ err: error, sessionId }, 'A push could not be recorded before it began.');
        return false;
      });
      if (isWritten) return null;
      return { refused: 'UNAVAILABLE', message: 'Switchyard cannot record this push now. Push again later.' };
    },
    take(report) {
      written = written.then(() => writeOrLog(report));
    },
    async settlePending(row, url) {
      const pending = Object.values(row.pendingPushes).sort((a, b) => compareTexts(a.at ?? '', b.at ?? ''));
      const refs = pending.map(fromPending);
      if (refs.length === 0) return;
      const repository = { id: row.repositoryId, host: row.host, path: row.path, url };
      await writeOrLog({ repository, refs, packBytes: 0 });
    },
    settled: () => written,
  };
}

function keyOf({ ref, oldId, newId }: PushRef): string {
  return `${ref} ${oldId} ${newId}`;
}

function toPending({ ref, oldId, newId }: PushRef, at: string): PendingPush {
  return { ref, old: oldId, new: newId, at };
}

function fromPending({ ref, old, new: newId }: PendingPush): PushedRef {
  return { ref, oldId: old, newId, outcome: 'unknown', reason: null };
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const lost = 'The answer of the forge to this push was lost.';

// Without an answer, a push counts as refused only if the ref is where it was before.
function outcomeAt(pushed: PushedRef, { id, isPushed }: RefAfterPush): PushedRef {
  if (isPushed) return { ...pushed, outcome: 'accepted' };
  if (id === null) return { ...pushed, reason: `${lost} The forge has no such ref now.` };
  if (id === pushed.oldId) return { ...pushed, outcome: 'rejected', reason: `${lost} The forge does not have it.` };
  return { ...pushed, reason: `${lost} The ref is at ${id} now, which does not contain it.` };
}

// A forge accepts a push only if the ref is at its old commit, which an earlier push must have set.
function acceptFollowed(refs: readonly PushedRef[]): readonly PushedRef[] {
  const starts = new Set<string>();
  const found = refs.toReversed().map((pushed): PushedRef => {
    const isFollowed = pushed.outcome === 'unknown' && starts.has(`${pushed.ref} ${pushed.newId}`);
    const known = isFollowed ? { ...pushed, outcome: 'accepted' as const, reason: null } : pushed;
    if (known.outcome === 'accepted') starts.add(`${known.ref} ${known.oldId}`);
    return known;
  });
  return found.toReversed();
}
