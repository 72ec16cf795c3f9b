import { createReadStream, rmSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { CheckpointError, type SegmentSource } from '../driver.ts';
import type { Reply, Request } from './messages.ts';
import { SessionSaver } from './session-saver.ts';

/**
 * The program of the process that saves the directories of all sessions of a worker (`process-saver.ts`). It reads synchronously, in turns of
 * a few milliseconds for each save that runs. It gets keys by messages: nothing secret is in its arguments or its environment.
 */

/** The time that a save runs until others have their turn. */
const turnMs = 10;

/** The priority while no save is urgent: a program that has something to do gets ten times as much of a busy processor. */
const lowPriority = 10;

/** An entry takes a kilobyte of the heap, and a save needs a copy of parts of it. */
const heapBytes = getHeapStatistics().heap_size_limit;

/** The entries of all sessions that stay in memory. */
const maxResidentEntries = Math.floor(heapBytes / 3_000);

/** The most entries of one session, even if its limits allow more. Others are left out and named. */
const maxSessionEntries = Math.floor(heapBytes / 2_500);

interface Session {
  readonly saver: SessionSaver;
  usedAt: number;
  /** The call of the save that runs. */
  running: number | null;
}

const sessions = new Map<number, Session>();
const stopped = new Set<number>();
const reads = new Map<number, (range: Extract<Request, { type: 'range' }>) => void>();
const normalPriority = getPriority();
let urgentSaves = 0;
const waiting: (() => void)[] = [];
let uses = 0;
let readCount = 0;

function send(reply: Reply): void {
  process.send?.(reply);
}

function usePriority(): void {
  try {
    setPriority(urgentSaves > 0 ? normalPriority : Math.max(normalPriority, lowPriority));
  } catch {
    // Only root may raise it again. Urgent saves have the low priority then, and still run before others.
  }
}

/** Returns the function by which one save gives others their turn. */
function pauseFor(call: number, isUrgent: boolean): () => Promise<void> | null {
  let turnEnd = performance.now() + turnMs;
  const wait = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    while (!isUrgent && urgentSaves > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    if (stopped.has(call)) throw new CheckpointError('STOPPED', 'The save was stopped.');
    turnEnd = performance.now() + turnMs;
  };
  return () => (performance.now() < turnEnd ? null : wait());
}

function segmentsOf(session: number): SegmentSource {
  return {
    async read(id, range) {
      const read = ++readCount;
      const answer = new Promise<Extract<Request, { type: 'range' }>>((resolve) => reads.set(read, resolve));
      send({ type: 'read', session, read, id, range: range ?? null });
      const { path, error } = await answer;
      if (error !== null) throw new Error(error);
      if (path === null) return null;
      return createReadStream(path).once('close', () => rmSync(path, { force: true }));
    },
  };
}

async function save({ session: id, call, withIgnored, isUrgent }: Extract<Request, { type: 'save' }>): Promise<void> {
  const session = sessions.get(id);
  if (session === undefined) return fail(call, new CheckpointError('FAILED', 'The session is not open.'));
  session.usedAt = ++uses;
  session.running = call;
  if (isUrgent) urgentSaves++;
  usePriority();
  try {
    const saved = await session.saver.save({ withIgnored, pause: pauseFor(call, isUrgent) });
    send({ type: 'done', call, saved });
  } catch (error) {
    fail(call, error);
  } finally {
    session.running = null;
    stopped.delete(call);
    if (isUrgent) urgentSaves--;
    usePriority();
    if (urgentSaves === 0) for (const resume of waiting.splice(0)) resume();
    freeMemory();
  }
}

function fail(call: number, error: unknown): void {
  const { code, message } = error instanceof CheckpointError ? error : failed(error);
  send({ type: 'failed', call, code, message });
}

function failed(error: unknown): CheckpointError {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const cause = code === undefined ? String(error) : `${syscall ?? 'a call'} failed with ${code}`;
  return new CheckpointError('FAILED', `The directories could not be saved: ${cause}.`);
}

/** Forgets the states of the sessions that were not saved for the longest time. */
function freeMemory(): void {
  let entries = 0;
  for (const { saver } of sessions.values()) entries += saver.entries;
  if (entries <= maxResidentEntries) return;
  for (const { saver, running } of [...sessions.values()].sort((a, b) => a.usedAt - b.usedAt)) {
    if (entries <= maxResidentEntries) return;
    if (running !== null || saver.isPending) continue;
    entries -= saver.entries;
    saver.unload();
  }
}

function handle(request: Request): void {
  if (request.type === 'range') {
    reads.get(request.read)?.(request);
    reads.delete(request.read);
    return;
  }
  const { session: id } = request;
  if (request.type === 'open') {
    const { directories, spoolDir, from } = request;
    const limits = { ...request.limits, maxEntries: Math.min(request.limits.maxEntries, maxSessionEntries) };
    const target = { directories, spoolDir, from, limits, key: Buffer.from(request.key), segments: segmentsOf(id) };
    sessions.set(id, { saver: new SessionSaver(target), usedAt: 0, running: null });
  } else if (request.type === 'save') void save(request);
  else if (request.type === 'stop') stopped.add(request.call);
  else if (request.type === 'close') {
    const { running } = sessions.get(id) ?? {};
    if (running !== undefined && running !== null) stopped.add(running);
    sessions.delete(id);
  } else settle(request);
}

function settle({ type, session: id, call }: Extract<Request, { type: 'commit' | 'abort' | 'stop' }>): void {
  try {
    const saver = sessions.get(id)?.saver;
    if (type === 'commit') saver?.commit();
    else saver?.abort();
    send({ type: 'done', call, saved: null });
  } catch (error) {
    fail(call, error);
  }
}

usePriority();
process.on('message', (message) => handle(message as Request));
process.on('disconnect', () => process.exit());
// The process that started this one ends it: a signal to their group must not end a save that it waits for.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
send({ type: 'ready' });
