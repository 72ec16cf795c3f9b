import { type ChildProcess, fork } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import {
  type CheckpointContent,
  CheckpointError,
  type SavedState,
  type SaveOptions,
  type Saver,
  type SaverTarget,
} from '../driver.ts';
import type { Reply, Request } from './messages.ts';

/** Options of {@link createSaveProcess}. */
export interface SaveProcessOptions {
  /** The heap of the process. */
  readonly maxHeapMb: number;
}

/** The process that saves the directories of all sessions of a worker. It starts with the first save, and again after it ended. */
export interface SaveProcess {
  open(target: SaverTarget): Saver;
  /** Its id while it runs. */
  readonly pid: number | undefined;
  /** Ends it. Never rejects. */
  close(): Promise<void>;
}

interface Call {
  resolve(saved: SavedState | null): void;
  reject(error: CheckpointError): void;
}

/** A process from its start to its end. */
interface Running {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly calls: Map<number, Call>;
  readonly opened: Set<number>;
  /** The sessions of reads from the storage, by their number. */
  readonly reads: Map<number, number>;
}

/** Describes the process. Starts nothing yet. */
export function createSaveProcess(options: SaveProcessOptions): SaveProcess {
  return new Client(options);
}

const isFromSources = import.meta.url.endsWith('.ts');

class Client implements SaveProcess {
  readonly #options: SaveProcessOptions;
  readonly #targets = new Map<number, SaverTarget>();
  #running: Running | null = null;
  #isClosed = false;
  #count = 0;

  constructor(options: SaveProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#running?.child.pid;
  }

  open(target: SaverTarget): Saver {
    const session = ++this.#count;
    this.#targets.set(session, target);
    return new ProcessSaver(this, session, target, () => this.#targets.delete(session));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#running;
    if (running === null) return;
    const { child } = running;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await exit;
    }
  }

  /** Returns the running process, which has a session open: with the given content, if it was not open before. */
  async session(session: number, from: () => CheckpointContent | null): Promise<Running> {
    if (this.#isClosed) throw new CheckpointError('STOPPED', 'The driver of checkpoints is closed.');
    this.#running ??= this.#start();
    const running = this.#running;
    await running.ready;
    if (running.calls.size === 0) running.child.channel?.unref();
    const target = this.#targets.get(session);
    if (target === undefined) throw new CheckpointError('STOPPED', 'The saver is closed.');
    if (!running.opened.has(session)) {
      await emptySpool(target.spoolDir);
      const { directories, spoolDir, key, limits } = target;
      running.opened.add(session);
      this.#send(running, { type: 'open', session, directories, spoolDir, key, limits, from: from() });
    }
    return running;
  }

  /** Sends a request, and waits for its answer. Rejects if the process ends before. */
  async call(running: Running, request: (call: number) => Request): Promise<SavedState | null> {
    const call = ++this.#count;
    const { child, calls } = running;
    const answer = new Promise<SavedState | null>((resolve, reject) => calls.set(call, { resolve, reject }));
    child.channel?.ref();
    try {
      this.#send(running, request(call));
      return await answer;
    } finally {
      // An idle process does not keep the service running.
      if (calls.size === 0) child.channel?.unref();
    }
  }

  isRunning(running: Running): boolean {
    return this.#running === running;
  }

  /** Asks the process to stop a save, which may wait for the storage. */
  stop(running: Running, session: number, call: number): void {
    this.#send(running, { type: 'stop', session, call });
    for (const [read, reader] of running.reads) {
      if (reader !== session) continue;
      running.reads.delete(read);
      this.#send(running, { type: 'range', read, path: null, error: 'The save was stopped.' });
    }
  }

  /** Makes the process forget a session. */
  closeSession(running: Running, session: number): void {
    running.opened.delete(session);
    this.#send(running, { type: 'close', session });
  }

  #send({ child }: Running, request: Request): void {
    // A process that ends meanwhile rejects its calls.
    if (child.connected) child.send(request, () => undefined);
  }

  #start(): Running {
    const program = fileURLToPath(new URL(`save-process${isFromSources ? '.ts' : '.js'}`, import.meta.url));
    const child = fork(program, [], {
      cwd: '/',
      // Neither the environment of the service nor its options: keys are sent as messages.
      env: {},
      execArgv: [
        `--max-old-space-size=${this.#options.maxHeapMb}`,
        ...(isFromSources ? ['--import', import.meta.resolve('tsx')] : []),
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    let setReady: () => void = () => undefined;
    let fail: (error: CheckpointError) => void = () => undefined;
    const ready = new Promise<void>((resolve, reject) => {
      setReady = resolve;
      fail = reject;
    });
    ready.catch(() => undefined);
    const running: Running = { child, ready, calls: new Map(), opened: new Set(), reads: new Map() };
    const end = (how: string) => {
      if (this.#running === running) this.#running = null;
      const error = new CheckpointError('FAILED', `The process that saves directories ended (${how}).`);
      fail(error);
      for (const call of running.calls.values()) call.reject(error);
      running.calls.clear();
    };
    child.once('error', (error) => end((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.once('exit', (code, signal) => end(signal ?? `code ${code}`));
    child.on('message', (message) => {
      const reply = message as Reply;
      if (reply.type === 'ready') setReady();
      else if (reply.type === 'read') void this.#read(running, reply);
      else this.#settle(running, reply);
    });
    child.unref();
    return running;
  }

  #settle({ calls }: Running, reply: Extract<Reply, { type: 'done' | 'failed' }>): void {
    const call = calls.get(reply.call);
    calls.delete(reply.call);
    if (reply.type === 'done') call?.resolve(reply.saved);
    else call?.reject(new CheckpointError(reply.code, reply.message));
  }

  /** Copies a range of a segment from the storage to a file of the spool, which the process reads. */
  async #read(running: Running, { session, read, id, range }: Extract<Reply, { type: 'read' }>): Promise<void> {
    running.reads.set(read, session);
    const answer = (path: string | null, error: string | null) => {
      if (!running.reads.delete(read)) return false;
      this.#send(running, { type: 'range', read, path, error });
      return true;
    };
    const target = this.#targets.get(session);
    if (target === undefined) {
      answer(null, 'The saver is closed.');
      return;
    }
    const path = join(target.spoolDir, `read-${read}`);
    try {
      const stream = await target.segments.read(id, range ?? undefined);
      if (stream === null) {
        answer(null, null);
        return;
      }
      await pipeline(stream, createWriteStream(path, { mode: 0o600 }));
      if (!answer(path, null)) await rm(path, { force: true });
    } catch (error) {
      answer(null, error instanceof Error ? error.message : String(error));
      await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/** The saver of one session, in the process of the worker. */
class ProcessSaver implements Saver {
  readonly #client: Client;
  readonly #session: number;
  readonly #forget: () => void;
  #committed: CheckpointContent | null;
  #pending: { readonly saved: SavedState; readonly running: Running } | null = null;
  #running: Running | null = null;

  constructor(client: Client, session: number, target: SaverTarget, forget: () => void) {
    this.#client = client;
    this.#session = session;
    this.#committed = target.from;
    this.#forget = forget;
  }

  async save({ withIgnored, isUrgent = false, signal }: SaveOptions): Promise<SavedState | null> {
    await this.abort();
    if (signal.aborted) throw stopped();
    const session = this.#session;
    const running = await this.#client.session(session, () => this.#committed);
    this.#running = running;
    let stop: () => void = () => undefined;
    try {
      const saved = await this.#client.call(running, (call) => {
        stop = () => this.#client.stop(running, session, call);
        signal.addEventListener('abort', stop, { once: true });
        return { type: 'save', session, call, withIgnored, isUrgent };
      });
      if (saved !== null) this.#pending = { saved, running };
      return saved;
    } catch (error) {
      throw signal.aborted ? stopped() : error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async commit(): Promise<void> {
    const pending = this.#pending;
    this.#pending = null;
    if (pending === null) return;
    this.#committed = pending.saved.content;
    await this.#settle('commit', pending);
  }

  async abort(): Promise<void> {
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) await this.#settle('abort', pending);
  }

  async close(): Promise<void> {
    await this.abort().catch(() => undefined);
    if (this.#running !== null) {
      this.#client.closeSession(this.#running, this.#session);
    }
    this.#forget();
  }

  async #settle(type: 'commit' | 'abort', pending: { saved: SavedState; running: Running }): Promise<void> {
    const { saved, running } = pending;
    const session = this.#session;
    // A new process begins with the content that is committed here.
    if (this.#client.isRunning(running)) {
      await this.#client
        .call(running, (call) => ({ type, session, call }))
        .catch((error: unknown) => {
          if (this.#client.isRunning(running)) throw error;
        });
    }
    for (const { path } of saved.segments) await rm(path, { force: true });
  }
}

function stopped(): CheckpointError {
  return new CheckpointError('STOPPED', 'The save was stopped.');
}

// The files of an earlier process belong to no save that could still be recorded.
async function emptySpool(spoolDir: string): Promise<void> {
  await mkdir(spoolDir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(spoolDir)) await rm(join(spoolDir, name), { recursive: true, force: true });
}
