import { setTimeout as wait } from 'node:timers/promises';
import { compareRestored, type Life, type Loss } from './compare-restored.ts';
import { createJournalReader } from './journal.ts';
import type { MovingSessions, SessionRow } from './moving-sessions.ts';

/** The state in which one session continued. */
export interface Outcome {
  readonly sessionId: string;
  /** True: its worker was lost. False: its worker handed it over, so nothing may be missing. */
  readonly isLoss: boolean;
  readonly files: Loss;
  readonly ignored: Loss;
  /** The time without an agent, in ms: from the loss, or from its last tool call. Null: it had nothing to do. */
  readonly awayMs: number | null;
  /** From the claim of the other worker until the agent started, in ms; null: not seen. */
  readonly restoreMs: number | null;
}

/** All outcomes so far. */
export interface MoveReport {
  readonly outcomes: Outcome[];
  readonly problems: string[];
  /** The facts that agents noted, with their numbers. */
  readonly notes: Map<string, number>;
}

/** Sessions that always have work, and whose journals are read. */
export interface FollowedSessions {
  readonly report: MoveReport;
  /** True if the agent of each session has started since its last loss, and has made a tool call. */
  areAtWork(): boolean;
  /** The sessions whose workspaces a worker has. */
  countAt(workerId: string): number;
  /** Records that the worker is lost since then, with what runs there. */
  lost(workerId: string, at: number): Promise<void>;
  waitUntil(isDone: () => boolean, failure: string): Promise<void>;
  close(): Promise<void>;
}

const pollMs = 100;
const patienceMs = 180_000;

/** Creates sessions, and sends each a message whenever it has nothing to do. */
export async function followEvents(moving: MovingSessions, inputs: readonly object[]): Promise<FollowedSessions> {
  const report: MoveReport = { outcomes: [], problems: [], notes: new Map() };
  const sessions: FollowedSession[] = [];
  for (const input of inputs) {
    const id = await moving.createSession({ prompt: 'Work.', ...input });
    sessions.push(new FollowedSession(id, moving.journalOf(id), report));
  }
  let isOver = false;
  const keepBusy = async () => {
    while (!isOver) {
      const rows = await moving.readSessions();
      for (const session of sessions) {
        const row = rows.get(session.id);
        if (row === undefined) continue;
        session.observe(row);
        session.read();
        if (!row.isQueued && !row.isTurnOpen && row.status !== 'error')
          await moving.sendMessage(session.id, 'Continue.');
      }
      await wait(pollMs);
    }
  };
  const busy = keepBusy();
  // The next call of waitUntil rejects.
  let failure: unknown = null;
  busy.catch((error: unknown) => {
    failure = error;
  });
  return {
    report,
    areAtWork: () => sessions.every((session) => session.isAtWork),
    countAt: (workerId) => sessions.filter(({ row }) => row?.workerId === workerId).length,
    async lost(workerId, at) {
      const rows = await moving.readSessions();
      for (const session of sessions) {
        const row = rows.get(session.id);
        if (row?.workerId === workerId) session.lose(row, at);
      }
    },
    async waitUntil(isDone, failed) {
      for (const until = Date.now() + patienceMs; !isDone(); await wait(pollMs)) {
        if (failure !== null) throw failure;
        const waiting = sessions.filter(({ isAtWork }) => !isAtWork).map(({ row }) => JSON.stringify(row));
        if (Date.now() < until) continue;
        const failures = sessions.filter(({ row }) => row?.status === 'error');
        const notices = await Promise.all(failures.map(({ id }) => moving.readNotices(id)));
        throw new Error([failed, ...waiting, ...report.problems, ...notices.flat()].join('\n'));
      }
    },
    async close() {
      isOver = true;
      await busy;
    },
  };
}

/** A worker's loss whose outcome is not known yet. */
interface PendingLoss {
  readonly at: number;
  readonly generation: number;
  readonly isQueued: boolean;
  readonly hasCheckpoint: boolean;
  readonly life: Life | null;
}

class FollowedSession {
  readonly id: string;
  row: SessionRow | null = null;
  readonly #report: MoveReport;
  readonly #readNew: () => ReturnType<ReturnType<typeof createJournalReader>>;
  readonly #lives: Life[] = [];
  readonly #claims: { readonly generation: number; readonly at: number }[] = [];
  #pending: PendingLoss | null = null;

  constructor(id: string, journal: string, report: MoveReport) {
    this.id = id;
    this.#report = report;
    this.#readNew = createJournalReader(journal);
  }

  get isAtWork(): boolean {
    return this.#pending === null && (this.#lives.at(-1)?.entries.some(({ type }) => type === 'end') ?? false);
  }

  observe(row: SessionRow): void {
    if (this.row !== null && row.generation !== this.row.generation)
      this.#claims.push({ generation: row.generation, at: Date.now() });
    if (row.status === 'error' && this.row?.status !== 'error') this.#report.problems.push(`${this.id} has failed.`);
    this.row = row;
  }

  lose({ generation, isQueued, checkpointId }: SessionRow, at: number): void {
    this.read();
    if (this.#pending !== null) return;
    const life = this.#lives.at(-1) ?? null;
    this.#pending = { at, generation, isQueued, hasCheckpoint: checkpointId !== null, life };
  }

  /** Reads the new entries of the journal. */
  read(): void {
    for (const entry of this.#readNew()) {
      if (entry.type === 'note') this.#count(entry.text);
      if (entry.type === 'start') {
        this.#conclude(entry);
        this.#lives.push({ start: entry, entries: [] });
        // The earlier ones are not needed any more.
        if (this.#lives.length > 3) this.#lives.shift();
        continue;
      }
      const life = this.#lives.findLast(({ start }) => start.pid === entry.pid);
      (life?.entries as (typeof entry)[] | undefined)?.push(entry);
    }
  }

  #count(text: string): void {
    this.#report.notes.set(text, (this.#report.notes.get(text) ?? 0) + 1);
  }

  /** Compares a new life of the agent with the last one. */
  #conclude(start: Life['start']): void {
    const pending = this.#pending;
    const last = pending === null ? (this.#lives.at(-1) ?? null) : pending.life;
    this.#pending = null;
    if (last === null) return;
    if (start.how === 'new') {
      if (pending === null || pending.hasCheckpoint) this.#report.problems.push(`${this.id} has started over.`);
      else this.#count('lost before the first checkpoint');
      return;
    }
    const { problems, files, ignored } = compareRestored(last, start, pending?.at ?? start.at);
    this.#report.problems.push(...problems.slice(0, 10).map((problem) => `${this.id}: ${problem}.`));
    if (pending === null && files.steps + ignored.steps > 0)
      this.#report.problems.push(`${this.id} has lost tool calls, but its worker was not lost.`);
    // It was started again in the same files.
    if (pending === null && start.worker === last.start.worker) return;
    const claim = this.#claims.findLast(({ generation }) => generation > (pending?.generation ?? 0));
    const lastAt = pending === null ? (last.entries.at(-1)?.at ?? last.start.at) : pending.at;
    this.#report.outcomes.push({
      sessionId: this.id,
      isLoss: pending !== null,
      files,
      ignored,
      awayMs: pending?.isQueued === false ? null : start.at - lastAt,
      restoreMs: claim === undefined ? null : start.at - claim.at,
    });
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
