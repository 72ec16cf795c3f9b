import type { AgentProcess } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import { FencedError } from '../../sessions/log.ts';
import type { WorkspaceStart } from '../restores/restore-run.ts';
import type { ClaimedRun } from './claims.ts';
import { TurnTrace } from './turn-trace.ts';

/**
 * A session that this process leases, with the state that the parts of its run share: whether they may continue, and
 * their wake-ups.
 */
export class LeasedRun {
  readonly context: Context;
  readonly run: ClaimedRun;
  readonly trace: TurnTrace;
  /** Set after the launch. */
  agent: AgentProcess | null = null;
  /** Resolves when the pushes of its agent so far are in the log. Set if it has repositories. */
  pushesSettled: () => Promise<void> = () => Promise.resolve();
  /** The files that it starts with; a restore replaces it. */
  start: WorkspaceStart;
  /** A limit was reached, or the run is released, ended or lost: no further work begins. */
  isOver = false;
  /** The session is no longer this worker's: nothing may be written. */
  isLost = false;
  /** True if any worker may continue the session at once, if its state is stored. */
  isHandover = false;
  /** The time since which its agent has been idle, by the monotonic clock; null: busy. */
  idleSince: number | null = null;
  readonly #onIdle: () => void;
  readonly #revoking = new AbortController();
  readonly #ending = new AbortController();
  #endIdle: (() => void) | null = null;
  #isWoken = false;

  /** `onIdle` is called whenever its agent becomes idle. */
  constructor(context: Context, run: ClaimedRun, onIdle: () => void) {
    this.context = context;
    this.run = run;
    this.trace = new TurnTrace(context);
    this.start = { state: 'kept', agentSessionId: run.agentSessionId };
    this.#onIdle = onIdle;
  }

  /** Aborts when the agent must not call its model any more. */
  get revoked(): AbortSignal {
    return this.#revoking.signal;
  }

  /** Aborts when no further work begins. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends the calls of its model at once, before the agent is stopped, which can take as long as its profile allows. */
  revoke(): void {
    this.#revoking.abort();
  }

  /** Ends the run: the agent is stopped, and an open turn stays open for the next worker. */
  end(): void {
    this.isOver = true;
    this.#ending.abort();
    this.wake();
    void this.agent?.stop();
  }

  /** {@link end} if another worker may claim it at any moment: the agent is killed at once. */
  abandon(): void {
    this.revoke();
    this.isOver = true;
    this.isLost = true;
    this.#ending.abort();
    this.wake();
    void this.agent?.kill();
  }

  /** The session is no longer this worker's, or cannot be written: the agent must stop. */
  lose(error: unknown): void {
    if (this.isLost) return;
    this.isLost = true;
    this.revoke();
    if (!(error instanceof FencedError)) {
      const { sessionId } = this.run;
      this.context.log.error({ err: error, sessionId }, 'A session could not be written; its agent is stopped.');
    }
    this.end();
  }

  /** Ends the current {@link LeasedRun.idle}, or the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#endIdle?.();
  }

  /** Every later wake-up ends the next {@link LeasedRun.idle}. */
  listen(): void {
    this.#isWoken = this.isOver;
  }

  /** True: woken, or over. False: the time has passed, or the warm agent ended, which is harmless. */
  idle(ms: number): Promise<boolean> {
    if (this.#isWoken) return Promise.resolve(true);
    this.idleSince = performance.now();
    return new Promise<boolean>((resolve) => {
      const finish = (woken: boolean) => {
        clearTimeout(timer);
        this.#endIdle = null;
        this.idleSince = null;
        resolve(woken);
      };
      const timer = setTimeout(() => finish(false), ms).unref();
      this.#endIdle = () => finish(true);
      void this.agent?.exited.then(() => finish(false));
      this.#onIdle();
    });
  }
}
