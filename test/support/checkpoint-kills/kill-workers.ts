import { setTimeout as wait } from 'node:timers/promises';
import { compareRestored, type Life, type Loss } from './compare-restored.ts';
import { createJournalReader } from './journal.ts';
import type { MovingSessions, SessionRow, WorkerProcess } from './moving-sessions.ts';

/** The state of one session after the loss of its worker. */
export interface Outcome {
  readonly sessionId: string;
  readonly files: Loss;
  readonly ignored: Loss;
  /** From the loss until the agent started elsewhere, in ms; null: the session had nothing to do. */
  readonly backMs: number | null;
  /** From the claim of the other worker until the agent started, in ms; null: not seen. */
  readonly restoreMs: number | null;
}

/** The outcomes of all losses so far. */
export interface KillReport {
  kills: number;
  readonly outcomes: Outcome[];
  readonly problems: string[];
  /** The facts that agents noted, with their numbers. */
  readonly notes: Map<string, number>;
}

/** Options of {@link killWorkers}. */
export interface KillOptions {
  readonly kills: number;
  /** The inputs of the sessions. */
  readonly sessions: readonly object[];
  /** The longest wait before a kill, in ms, after all agents are at work. */
  readonly delayMs: number;
  readonly random: () => number;
  onKill(report: KillReport): void;
}

interface Followed {
  readonly id: string;
  readonly lives: Life[];
  readonly read: () => void;
  readonly claims: { readonly generation: number; readonly at: number }[];
  row: SessionRow | null;
  /** The loss whose outcome is not known yet. */
  lost: {
    readonly at: number;
    readonly generation: number;
    readonly isQueued: boolean;
    readonly life: Life | null;
    readonly hasCheckpoint: boolean;
  } | null;
}

const pollMs = 100;
const patienceMs = 120_000;

/** Runs sessions, and kills their worker again and again; another one continues. Returns when all have continued. */
export async function killWorkers(moving: MovingSessions, options: KillOptions): Promise<KillReport> {
  const report: KillReport = { kills: 0, outcomes: [], problems: [], notes: new Map() };
  let workers = [await moving.startWorker(), await moving.startWorker()];
  const followed: Followed[] = [];
  for (const input of options.sessions)
    followed.push(follow(moving, await moving.createSession({ prompt: 'Work.', ...input }), report));
  let isOver = false;
  const busy = keepBusy(moving, followed, report, () => isOver);
  let starting: Promise<WorkerProcess> | null = null;
  try {
    while (report.kills < options.kills) {
      const isAtWork = ({ lost, lives }: Followed) => lost === null && (lives.at(-1)?.entries.length ?? 0) > 1;
      await waitFor(() => followed.every(isAtWork), report, 'The agents have not started');
      await wait(options.random() * options.delayMs);
      if (starting !== null) workers.push(await starting);
      const victim = busiest(moving, workers, followed);
      workers = workers.filter((worker) => worker !== victim);
      const victimId = moving.workerId(victim);
      const at = await moving.lose(victim);
      report.kills += 1;
      const rows = await moving.readSessions();
      for (const each of followed) {
        const row = rows.get(each.id);
        if (row === undefined || row.workerId !== victimId || each.lost !== null) continue;
        each.read();
        const hasCheckpoint = row.checkpointId !== null;
        each.lost = {
          at,
          generation: row.generation,
          isQueued: row.isQueued,
          life: each.lives.at(-1) ?? null,
          hasCheckpoint,
        };
      }
      starting = moving.startWorker();
      await waitFor(() => followed.every(({ lost }) => lost === null), report, 'Sessions have not continued');
      options.onKill(report);
    }
  } finally {
    isOver = true;
    await busy;
    await starting;
  }
  return report;
}

/** The worker with most sessions. */
function busiest(
  moving: MovingSessions,
  workers: readonly WorkerProcess[],
  followed: readonly Followed[],
): WorkerProcess {
  const countOf = (worker: WorkerProcess) => {
    const id = moving.workerId(worker);
    return followed.filter(({ row }) => row?.workerId === id).length;
  };
  return workers.toSorted((a, b) => countOf(b) - countOf(a))[0] as WorkerProcess;
}

function follow(moving: MovingSessions, id: string, report: KillReport): Followed {
  const readNew = createJournalReader(moving.journalOf(id));
  const each: Followed = {
    id,
    lives: [],
    claims: [],
    row: null,
    lost: null,
    read() {
      for (const entry of readNew()) {
        if (entry.type === 'note') count(report, entry.text);
        if (entry.type === 'start') {
          const life = { start: entry, entries: [] };
          conclude(each, life, report);
          each.lives.push(life);
          // The earlier ones are not needed any more.
          if (each.lives.length > 3) each.lives.shift();
          continue;
        }
        const life = each.lives.findLast(({ start }) => start.pid === entry.pid);
        (life?.entries as (typeof entry)[] | undefined)?.push(entry);
      }
    },
  };
  return each;
}

function count({ notes }: KillReport, text: string): void {
  notes.set(text, (notes.get(text) ?? 0) + 1);
}

/** Compares a new life of an agent with the last one. */
function conclude(each: Followed, { start }: Life, report: KillReport): void {
  const { lost, id } = each;
  const last = lost === null ? (each.lives.at(-1) ?? null) : lost.life;
  each.lost = null;
  if (last === null) return;
  if (start.how === 'new') {
    if (lost === null || lost.hasCheckpoint) report.problems.push(`${id} has started over.`);
    else count(report, 'lost before the first checkpoint');
    return;
  }
  // Without a loss, the agent was started again in the same files, and nothing may be missing.
  const { problems, files, ignored } = compareRestored(last, start, lost?.at ?? start.at);
  report.problems.push(...problems.map((problem) => `${id}: ${problem}.`));
  if (lost === null) {
    if (files.steps + ignored.steps > 0) report.problems.push(`${id} has lost steps without a loss of its worker.`);
    return;
  }
  const claim = each.claims.findLast(({ generation }) => generation > lost.generation);
  report.outcomes.push({
    sessionId: id,
    files,
    ignored,
    backMs: lost.isQueued ? start.at - lost.at : null,
    restoreMs: claim === undefined ? null : start.at - claim.at,
  });
}

/** Reads the states of the sessions, and sends a message to each that has nothing to do. */
async function keepBusy(
  moving: MovingSessions,
  followed: readonly Followed[],
  report: KillReport,
  isOver: () => boolean,
): Promise<void> {
  const failed = new Set<string>();
  while (!isOver()) {
    const rows = await moving.readSessions();
    for (const each of followed) {
      const row = rows.get(each.id);
      if (row === undefined) continue;
      if (each.row !== null && row.generation !== each.row.generation)
        each.claims.push({ generation: row.generation, at: Date.now() });
      each.row = row;
      if (row.status === 'error' && !failed.has(each.id)) {
        failed.add(each.id);
        report.problems.push(`${each.id} has failed.`);
      }
      each.read();
      if (!row.isQueued && !row.isTurnOpen && row.status !== 'error') await moving.sendMessage(each.id, 'Continue.');
    }
    await wait(pollMs);
  }
}

async function waitFor(isDone: () => boolean, report: KillReport, failure: string): Promise<void> {
  for (const until = Date.now() + patienceMs; !isDone(); await wait(pollMs)) {
    if (Date.now() > until) throw new Error(`${failure} in two minutes. ${report.problems.join('\n')}`);
  }
}

/** Checks the logs of all sessions: numbers without gaps, no errors. Returns the problems as sentences. */
export async function checkLogs({ database }: MovingSessions): Promise<string[]> {
  const { rows } = await database.query(`
    select h.session_id as id, h.next_seq - 1 as last, count(e.seq)::int as count, max(e.seq) as "maxSeq",
           count(*) filter (where e.kind = 'ERROR')::int as errors
      from session_head h left join log_entry e on e.session_id = h.session_id group by h.session_id, h.next_seq`);
  return rows.flatMap(({ id, last, count, maxSeq, errors }) => [
    ...(last === count && maxSeq === count ? [] : [`The log of ${id} has a gap: ${count} entries up to ${last}.`]),
    ...(errors === 0 ? [] : [`The log of ${id} has ${errors} errors.`]),
  ]);
}
