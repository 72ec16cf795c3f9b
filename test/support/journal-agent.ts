import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { checkDatabase, createFirstFiles, planStep, type StepContext } from './checkpoint-kills/agent-steps.ts';
import { type JournalEntry, type PathState, pathState, writeJournal } from './checkpoint-kills/journal.ts';
import { type FileCache, readFileStates } from './file-states.ts';

// An ACP agent that changes its workspace at random, and records what each tool call has changed in a journal outside of it. Its
// argument is {@link JournalAgentSettings} as JSON.

/** Settings of the agent of the proof. */
export interface JournalAgentSettings {
  /** The directory of the journals, one file for each session of the service. */
  readonly journals: string;
  readonly packages: Omit<NonNullable<StepContext['packages']>, 'copy'> | null;
  /** The numbers of tool calls in a turn, and the pauses after them in ms. */
  readonly steps: readonly [min: number, max: number];
  readonly pauseMs: readonly [min: number, max: number];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: any;
}

const settings = JSON.parse(process.argv[2] as string) as JournalAgentSettings;
const between = ([min, max]: readonly [number, number]) => min + Math.random() * (max - min);
const put = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const { pid } = process;

class AgentSession {
  readonly id: string;
  readonly #journal: string;
  readonly #context: StepContext;
  readonly #caches: Record<'workspace' | 'home', FileCache> = { workspace: new Map(), home: new Map() };
  readonly #states = new Map<string, PathState>();
  readonly #history: string;
  #step: number;
  isCancelled = false;

  constructor(id: string, cwd: string, how: 'new' | 'loaded') {
    const at = Date.now();
    const home = process.env.HOME as string;
    this.id = id;
    // The directory of the session has its id.
    this.#journal = join(settings.journals, `${/[0-9a-f]{32}/.exec(cwd)?.[0]}.ndjson`);
    const note = (text: string) => this.#write({ type: 'note', at: Date.now(), pid, text });
    const copy = join(settings.journals, '..', `npm-cache-${basename(this.#journal, '.ndjson')}`);
    this.#context = { workspace: cwd, home, packages: settings.packages && { ...settings.packages, copy } };
    this.#history = historyOf(id);
    if (how === 'new') {
      mkdirSync(join(home, 'agent'), { recursive: true });
      appendFileSync(this.#history, '');
      createFirstFiles(this.#context);
    }
    const lines = readFileSync(this.#history, 'utf8').split('\n');
    this.#step = lines.length - 1;
    const states = this.#rescan(['workspace', 'home/agent']) as Record<string, PathState>;
    const worker = process.env.SWITCHYARD_WORKER ?? '';
    this.#write({ type: 'start', at, pid, worker, how, steps: this.#step, states });
    const damage = checkDatabase(this.#context);
    if (damage !== null) note(`database: ${damage}`);
    // Reading it has changed its files.
    this.#rescan(['home/agent']);
  }

  #write(entry: JournalEntry): void {
    writeJournal(this.#journal, entry);
  }

  /** Reads what is below these paths again; returns the changes. */
  #rescan(paths: readonly string[]): Record<string, PathState | null> {
    const changes: Record<string, PathState | null> = {};
    for (const path of paths) {
      const [root, ...rest] = path.split('/') as ['workspace' | 'home', ...string[]];
      const options = { below: rest.join('/'), cache: this.#caches[root] };
      const found = readFileStates(this.#context[root], options);
      for (const [name, state] of found) {
        const text = pathState(state);
        if (this.#states.get(`${root}/${name}`) === text) continue;
        this.#states.set(`${root}/${name}`, text);
        changes[`${root}/${name}`] = text;
      }
      for (const known of this.#states.keys()) {
        if (known !== path && !known.startsWith(`${path}/`)) continue;
        if (found.has(known.slice(root.length + 1))) continue;
        this.#states.delete(known);
        changes[known] = null;
      }
    }
    return changes;
  }

  async turn(): Promise<'end_turn' | 'cancelled'> {
    this.isCancelled = false;
    for (let left = Math.round(between(settings.steps)); left > 0 && !this.isCancelled; left--) {
      await this.#takeStep();
      await wait(between(settings.pauseMs));
    }
    return this.isCancelled ? 'cancelled' : 'end_turn';
  }

  async #takeStep(): Promise<void> {
    const { name, touches, isLong, run } = planStep(this.#context);
    this.#step += 1;
    const step = this.#step;
    const toolCallId = `call-${pid}-${step}`;
    this.#update({ sessionUpdate: 'tool_call', toolCallId, title: name, kind: 'execute', status: 'in_progress' });
    this.#write({ type: 'begin', at: Date.now(), pid, step, name, touches, isLong });
    // The update must leave the process before the step blocks it.
    await new Promise((resolve) => process.stdout.write('', resolve));
    run();
    appendFileSync(this.#history, `${step} ${name}\n`);
    const changes = this.#rescan([...touches, this.#history.replace(this.#context.home, 'home')]);
    this.#write({ type: 'end', at: Date.now(), pid, step, changes });
    this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  }

  #update(update: object): void {
    put({ method: 'session/update', params: { sessionId: this.id, update } });
  }
}

/** The agent's memory of a session, in its home. */
function historyOf(id: string): string {
  return join(process.env.HOME as string, 'agent', `${id}.txt`);
}

let session: AgentSession | null = null;

async function answer({ method, params }: Message): Promise<object | null> {
  if (method === 'initialize') return { protocolVersion: 1, agentCapabilities: { loadSession: true } };
  if (method === 'session/new') {
    session = new AgentSession(randomUUID(), params.cwd, 'new');
    return { sessionId: session.id };
  }
  if (method === 'session/load') {
    if (!existsSync(historyOf(params.sessionId))) throw new Error('There is no such session.');
    session = new AgentSession(params.sessionId, params.cwd, 'loaded');
    return {};
  }
  if (method === 'session/prompt') return { stopReason: await session?.turn() };
  if (method === 'session/cancel' && session !== null) session.isCancelled = true;
  return null;
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as Message;
    answer(message).then(
      (result) => message.id !== undefined && put({ id: message.id, result: result ?? {} }),
      (error: Error) => put({ id: message.id, error: { code: -32_602, message: error.message } }),
    );
  })
  .on('close', () => process.exit());
