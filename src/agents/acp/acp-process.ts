import type { ClientConnection, SessionUpdate } from '@agentclientprotocol/sdk';
import {
  AgentCrash,
  type AgentLaunch,
  type AgentProcess,
  type AgentUpdate,
  type PromptBlock,
  type TurnEnd,
} from '../agent.ts';
import { type Child, within } from './child.ts';
import { createQuestions, type Questions } from './questions.ts';
import { createUpdateJoiner, readUsage } from './updates.ts';

/** How long opening a session may take: agents replay histories and start servers of their own. */
const openMs = 60_000;
/** How long a courtesy (close, set_mode) may take before it is left. */
const courtesyMs = 2_000;

interface Capabilities {
  loadSession?: boolean;
  sessionCapabilities?: { resume?: unknown; close?: unknown } | null;
}

/** One agent process behind the port, speaking ACP version 1. */
export class AcpProcess implements AgentProcess {
  readonly pid: number;
  readonly questions: Questions;
  readonly #launch: AgentLaunch;
  readonly #child: Child;
  readonly #joiner = createUpdateJoiner();
  #connection: ClientConnection | null = null;
  #capabilities: Capabilities = {};
  #sessionId: string | null = null;
  #isReplaying = false;
  #turn: Promise<unknown> | null = null;
  #deliveries: Promise<void> = Promise.resolve();
  #lastSignAt = 0;
  #stopped: Promise<void> | null = null;

  constructor(launch: AgentLaunch, child: Child) {
    this.pid = child.pid;
    this.#launch = launch;
    this.#child = child;
    this.questions = createQuestions(launch.profile.permission, (update) => {
      for (const ended of [...this.#joiner.flush(), update]) this.#deliver(ended);
    });
  }

  connect(connection: ClientConnection): void {
    this.#connection = connection;
    // Its end shows in every pending request, and in the child's exit.
    connection.closed.catch(() => undefined);
  }

  onUpdate(update: SessionUpdate): void {
    this.#lastSignAt = performance.now();
    // While a session is loaded its history comes again; the log has it already.
    if (this.#isReplaying) return;
    for (const each of this.#joiner.take(update)) this.#deliver(each);
  }

  /** One request with a time limit; an agent that ends, errs or says nothing is an {@link AgentCrash}. */
  async request<T>(method: string, timeoutMs: number | null, params: object): Promise<T> {
    const connection = this.#connection;
    if (!connection) throw new AgentCrash('The agent is not connected.');
    const answer = connection.agent.request<T>(method, params);
    answer.catch(() => undefined);
    const exit = this.#child.exited.then((how) => {
      throw this.#crash(`The agent process ended unexpectedly (${how}).`);
    });
    exit.catch(() => undefined);
    const races: Promise<T>[] = [answer.catch((error: unknown) => this.#explain(method, error)), exit];
    let timer: NodeJS.Timeout | undefined;
    if (timeoutMs !== null) {
      races.push(
        new Promise((_, reject) => {
          const late = () => reject(this.#crash(`The agent did not answer "${method}" within ${timeoutMs / 1_000} s.`));
          timer = setTimeout(late, timeoutMs);
        }),
      );
    }
    try {
      const result = await Promise.race(races);
      if (method === 'initialize')
        this.#capabilities = (result as { agentCapabilities?: Capabilities }).agentCapabilities ?? {};
      return result;
    } finally {
      clearTimeout(timer);
    }
  }

  async open(previousSessionId: string | null): ReturnType<AgentProcess['open']> {
    const { workspaceDir, profile } = this.#launch;
    const session = { cwd: workspaceDir, mcpServers: [] };
    const can = {
      resume: previousSessionId !== null && this.#capabilities.sessionCapabilities?.resume != null,
      load: previousSessionId !== null && this.#capabilities.loadSession === true,
      new: true,
    };
    // Any error on one rung leads to the next; only the last one's counts.
    const rungs = profile.resumeOrder.filter((rung) => rung !== 'new' && can[rung]);
    for (const how of rungs) {
      try {
        this.#isReplaying = how === 'load';
        await this.request(`session/${how}`, openMs, { ...session, sessionId: previousSessionId });
        return await this.#opened(previousSessionId as string, how);
      } catch (error) {
        if (await within(this.#child.exited, 0)) throw error;
      } finally {
        this.#isReplaying = false;
      }
    }
    const { sessionId } = await this.request<{ sessionId: string }>('session/new', openMs, session);
    return this.#opened(sessionId, 'new');
  }

  async #opened(agentSessionId: string, how: 'new' | 'resume' | 'load'): ReturnType<AgentProcess['open']> {
    this.#sessionId = agentSessionId;
    const { mode } = this.#launch.profile;
    if (mode !== null) await this.request('session/set_mode', openMs, { sessionId: agentSessionId, modeId: mode });
    return { agentSessionId, how };
  }

  async prompt(blocks: readonly PromptBlock[]): Promise<TurnEnd> {
    if (this.#turn !== null) throw new Error('A turn is in flight already.');
    this.#lastSignAt = performance.now();
    const watchdog = this.#watch();
    const answer = this.request<{ stopReason: string }>('session/prompt', null, {
      sessionId: this.#sessionId,
      prompt: blocks.map(toContent),
    });
    this.#turn = answer.catch(() => undefined);
    try {
      const result = await Promise.race([answer, watchdog.hung]);
      for (const update of this.#joiner.flush()) this.#deliver(update);
      const usage = readUsage(result);
      if (usage.inputTokens !== null || usage.totalTokens !== null) this.#deliver(usage);
      await this.#deliveries;
      return { stopReason: result.stopReason };
    } catch (error) {
      // What it had said before it died belongs into the log.
      for (const update of this.#joiner.flush()) this.#deliver(update);
      await this.#deliveries;
      throw error;
    } finally {
      watchdog.stop();
      this.#turn = null;
    }
  }

  answer(questionId: string, text: string): boolean {
    this.#lastSignAt = performance.now();
    return this.questions.answer(questionId, text);
  }

  async cancel(): Promise<void> {
    const turn = this.#turn;
    if (turn === null || this.#connection === null) return;
    this.questions.cancelAll();
    void this.#connection.agent
      .notify('session/cancel', { sessionId: this.#sessionId as string })
      .catch(() => undefined);
    await within(turn, this.#launch.profile.stopGraces.cancelMs);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.questions.cancelAll();
    const agent = this.#connection?.agent;
    if (agent && this.#sessionId !== null && !(await within(this.#child.exited, 0))) {
      if (this.#turn !== null)
        void agent.notify('session/cancel', { sessionId: this.#sessionId }).catch(() => undefined);
      else if (this.#capabilities.sessionCapabilities?.close != null) {
        await within(agent.request('session/close', { sessionId: this.#sessionId }), courtesyMs);
      }
    }
    await this.#child.kill();
    this.#connection?.close();
  }

  // One after another, each awaited: the log has them in the agent's order.
  #deliver(update: AgentUpdate): void {
    this.#deliveries = this.#deliveries.then(() => this.#launch.onUpdate(update)).catch(() => undefined);
  }

  // An agent that waits for the user is not hanging.
  #watch(): { hung: Promise<never>; stop: () => void } {
    const { inactivityMs } = this.#launch.profile;
    let timer: NodeJS.Timeout | undefined;
    const hung = new Promise<never>((_, reject) => {
      const look = () => {
        const leftMs = inactivityMs - (performance.now() - this.#lastSignAt);
        if (this.questions.isOpen()) this.#lastSignAt = performance.now();
        else if (leftMs <= 0)
          return reject(this.#crash(`The agent gave no sign of life for ${inactivityMs / 1_000} s.`));
        timer = setTimeout(look, Math.max(leftMs, 100)).unref();
      };
      timer = setTimeout(look, inactivityMs).unref();
    });
    hung.catch(() => undefined);
    return { hung, stop: () => clearTimeout(timer) };
  }

  async #explain(method: string, error: unknown): Promise<never> {
    // A closed connection is only the shadow of an exit: give that a moment to be known, so that it can be named.
    if (await within(this.#child.exited, 500)) {
      throw this.#crash(`The agent process ended unexpectedly (${await this.#child.exited}).`);
    }
    throw this.#crash(`The agent refused "${method}": ${error instanceof Error ? error.message : String(error)}.`);
  }

  #crash(message: string): AgentCrash {
    return new AgentCrash(message, this.#child.stderrTail());
  }
}

// ACP's annotation for what is said to the agent and is not the user's.
function toContent({ type, text, isPreface }: PromptBlock) {
  return isPreface === true ? { type, text, annotations: { audience: ['assistant'] } } : { type, text };
}
