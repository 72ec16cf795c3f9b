import { setImmediate as nextRound } from 'node:timers/promises';
import {
  type ClientConnection,
  PROTOCOL_VERSION,
  RequestError,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import {
  AgentCrash,
  type AgentLaunch,
  type AgentPaths,
  type AgentProcess,
  type AgentUpdate,
  type McpServer,
  type PromptBlock,
  type TurnEnd,
} from '../agent.ts';
import { type Child, within } from './child.ts';
import { createQuestions, type Questions } from './questions.ts';
import { createUpdateJoiner, hasUsage, readUsage } from './updates.ts';
import { startWatchdog } from './watchdog.ts';

/** How long an agent may take for each step before its first turn (agents.md 5.1). */
export interface StartTimeouts {
  readonly initializeMs: number;
  readonly authenticateMs: number;
  /** For new, load and resume: agents replay histories and start servers of their own. */
  readonly openMs: number;
}

/** How long a courtesy (close) may take before it is left. */
const courtesyMs = 2_000;
/** How long the last words of a process that ended are waited for: something it started may hold its stdout open. */
const lastWordsMs = 1_000;
/** The most of an agent's own explanation of an error that is passed on. */
const mostDetailCharacters = 500;

interface Capabilities {
  loadSession?: boolean;
  sessionCapabilities?: { resume?: unknown; close?: unknown } | null;
}

/** One agent process behind the port, speaking ACP version 1. */
export class AcpProcess implements AgentProcess {
  readonly pid: number;
  readonly paths: AgentPaths;
  readonly exited: Promise<string>;
  readonly questions: Questions;
  readonly #launch: AgentLaunch;
  readonly #child: Child;
  readonly #timeouts: StartTimeouts;
  readonly #joiner = createUpdateJoiner();
  #connection: ClientConnection | null = null;
  #capabilities: Capabilities = {};
  #sessionId: string | null = null;
  #turn: Promise<unknown> | null = null;
  #deliveries: Promise<void> = Promise.resolve();
  #lastSignAt = 0;
  #stopped: Promise<void> | null = null;

  constructor(launch: AgentLaunch, child: Child, timeouts: StartTimeouts) {
    this.pid = child.pid;
    this.paths = child.paths;
    this.exited = child.exited;
    this.#launch = launch;
    this.#child = child;
    this.#timeouts = timeouts;
    this.questions = createQuestions(launch.profile.permission, (update) =>
      this.#deliver([...this.#joiner.flush(), update]),
    );
  }

  /** The handshake. `clientCapabilities` as ACP has them. */
  async start(connection: ClientConnection, clientInfo: object, clientCapabilities: object): Promise<void> {
    this.#connection = connection;
    const { authMethod } = this.#launch.profile;
    const { initializeMs, authenticateMs } = this.#timeouts;
    const params = { protocolVersion: PROTOCOL_VERSION, clientInfo, clientCapabilities };
    const answer = await this.#request<InitializeAnswer>('initialize', params, initializeMs);
    if (answer.protocolVersion !== PROTOCOL_VERSION) {
      throw this.#crash(
        `The agent speaks version ${answer.protocolVersion} of the Agent Client Protocol; version ${PROTOCOL_VERSION} was expected.`,
      );
    }
    this.#capabilities = answer.agentCapabilities ?? {};
    if (authMethod !== null) await this.#request('authenticate', { methodId: authMethod }, authenticateMs);
  }

  /** Takes in a `session/update`. */
  onUpdate({ sessionId, update }: SessionNotification): void {
    this.#lastSignAt = performance.now();
    // No session is open while one is loaded, whose history comes again, and the log has that already. One that comes
    // after its load was given up is of another session.
    if (sessionId !== this.#sessionId) return;
    this.#deliver(this.#joiner.take(update));
  }

  async open(
    previousSessionId: string | null,
    mcpServers: readonly McpServer[] = [],
  ): ReturnType<AgentProcess['open']> {
    const { profile } = this.#launch;
    const session = { cwd: this.paths.workspace, mcpServers: profile.mcp ? mcpServers.map(toServer) : [] };
    const can = {
      resume: this.#capabilities.sessionCapabilities?.resume != null,
      load: this.#capabilities.loadSession === true,
      new: false,
    };
    const last = profile.resumeOrder.indexOf('new');
    const rungs = profile.resumeOrder.slice(0, last < 0 ? undefined : last).filter((rung) => can[rung]);
    if (previousSessionId !== null) {
      // Any error on one rung leads to the next; only the last one's counts.
      for (const how of rungs) {
        try {
          await this.#request(`session/${how}`, { ...session, sessionId: previousSessionId }, this.#timeouts.openMs);
          return await this.#opened(previousSessionId, how);
        } catch (error) {
          this.#sessionId = null;
          if (await within(this.exited, 0)) throw error;
        }
      }
    }
    const { sessionId } = await this.#request<{ sessionId: string }>('session/new', session, this.#timeouts.openMs);
    return this.#opened(sessionId, 'new');
  }

  async #opened(agentSessionId: string, how: 'new' | 'resume' | 'load'): ReturnType<AgentProcess['open']> {
    this.#sessionId = agentSessionId;
    const { mode } = this.#launch.profile;
    const params = { sessionId: agentSessionId, modeId: mode };
    if (mode !== null) await this.#request('session/set_mode', params, this.#timeouts.openMs);
    return { agentSessionId, how };
  }

  async prompt(blocks: readonly PromptBlock[]): Promise<TurnEnd> {
    if (this.#turn !== null) throw new Error('A turn is in flight already.');
    this.questions.open();
    // What was said between turns is no part of this one's first message.
    this.#deliver(this.#joiner.flush());
    this.#lastSignAt = performance.now();
    const watchdog = startWatchdog(this.#launch.profile.inactivityMs, () => this.#lastSign());
    const hung = watchdog.hung.then((quietMs) => {
      throw this.#crash(`The agent gave no sign of life for ${quietMs / 1_000} s.`);
    });
    const answer = this.#request<{ stopReason: string }>('session/prompt', {
      sessionId: this.#sessionId,
      prompt: blocks.map(toContent),
    });
    this.#turn = answer.catch(() => undefined);
    try {
      const result = await Promise.race([answer, hung]);
      const usage = readUsage(result);
      this.#deliver([...this.#joiner.endTurn(), ...(hasUsage(usage) ? [usage] : [])]);
      return { stopReason: result.stopReason };
    } finally {
      watchdog.stop();
      this.#turn = null;
      // A turn that ended needs no answers any more.
      this.questions.cancelAll();
      // Also when it ended badly: what it had said before belongs into the log.
      this.#deliver(this.#joiner.endTurn());
      await this.#deliveries;
    }
  }

  answer(questionId: string, text: string): boolean {
    this.#lastSignAt = performance.now();
    return this.questions.answer(questionId, text);
  }

  async cancel(): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return;
    this.#sendCancel();
    await within(turn, this.#launch.profile.stopGraces.cancelMs);
  }

  #sendCancel(): void {
    this.questions.cancelAll();
    const params = { sessionId: this.#sessionId as string };
    void this.#connection?.agent.notify('session/cancel', params).catch(() => undefined);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const isAlive = !(await within(this.exited, 0));
    if (isAlive && this.#turn !== null) this.#sendCancel();
    else if (isAlive && this.#sessionId !== null && this.#capabilities.sessionCapabilities?.close != null) {
      const params = { sessionId: this.#sessionId };
      if (this.#connection) await within(this.#connection.agent.request('session/close', params), courtesyMs);
    }
    this.questions.cancelAll();
    await this.#child.kill();
    this.#connection?.close();
  }

  // One after another, each awaited: the log has them in the agent's order.
  #deliver(updates: readonly AgentUpdate[]): void {
    for (const update of updates) {
      this.#deliveries = this.#deliveries.then(() => this.#launch.onUpdate(update)).catch(() => undefined);
    }
  }

  // An agent that waits for the user is not hanging, and one whose tool runs may be silent for longer (agents.md 5.6).
  #lastSign(): { atMs: number; patience: number } {
    if (this.questions.isAnyOpen()) this.#lastSignAt = performance.now();
    return { atMs: this.#lastSignAt, patience: this.#joiner.isToolRunning() ? 3 : 1 };
  }

  /** One request, with a time limit or none; an agent that ends, errs or says nothing is an {@link AgentCrash}. */
  async #request<T>(method: string, params: object, timeoutMs: number | null = null): Promise<T> {
    const connection = this.#connection;
    if (!connection) throw new AgentCrash('The agent is not connected.');
    const answer = connection.agent
      .request<T>(method, params)
      .catch((error: unknown) => this.#explain(method, connection, error));
    const ended = this.exited.then(async () => {
      // Its last words may hold the answer.
      await within(connection.closed, lastWordsMs);
      throw await this.#ended();
    });
    const late = new AbortController();
    const races = timeoutMs === null ? [answer, ended] : [answer, ended, this.#late(method, timeoutMs, late.signal)];
    for (const each of races) each.catch(() => undefined);
    try {
      return await Promise.race(races);
    } finally {
      late.abort();
      // An answer may overtake the updates before it: their handlers have their turn until the next round of the loop.
      await nextRound();
    }
  }

  #late(method: string, timeoutMs: number, signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const say = () => reject(this.#crash(`The agent did not answer "${method}" within ${timeoutMs / 1_000} s.`));
      const timer = setTimeout(say, timeoutMs);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });
  }

  async #explain(method: string, connection: ClientConnection, error: unknown): Promise<never> {
    // A closed connection is only the shadow of an exit: give that a moment to be known, so that it can be named.
    if (connection.signal.aborted && (await within(this.exited, lastWordsMs))) throw await this.#ended();
    const message = error instanceof Error ? error.message : String(error);
    throw this.#crash(`The agent refused "${method}": ${message.replace(/\.$/, '')}${detailOf(error)}.`);
  }

  async #ended(): Promise<AgentCrash> {
    return this.#crash(`The agent process ended unexpectedly (${await this.exited}).`);
  }

  #crash(message: string): AgentCrash {
    return new AgentCrash(this.#child.mask(message), this.#child.stderrTail());
  }
}

interface InitializeAnswer {
  readonly protocolVersion: number;
  readonly agentCapabilities?: Capabilities;
}

// Agents put the cause (a refused key, a model that does not exist) beside a bare "Internal error".
function detailOf(error: unknown): string {
  const data = error instanceof RequestError ? (error.data as unknown) : null;
  const { details, message } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const detail = [data, details, message].find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof detail === 'string' ? ` (${detail.trim().slice(0, mostDetailCharacters).replace(/\.$/, '')})` : '';
}

// ACP's annotation for what is said to the agent and is not the user's.
function toContent(block: PromptBlock) {
  if (block.type === 'link') {
    const { uri, name, mimeType } = block;
    return { type: 'resource_link', uri, name, ...(mimeType === null ? {} : { mimeType }) };
  }
  const { type, text, isPreface } = block;
  return isPreface === true ? { type, text, annotations: { audience: ['assistant'] } } : { type, text };
}

function toServer({ name, command, args, env }: McpServer) {
  return { name, command, args: [...args], env: Object.entries(env).map(([key, value]) => ({ name: key, value })) };
}
