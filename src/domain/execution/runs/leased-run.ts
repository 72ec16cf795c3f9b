import type { AgentProcess } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import { FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from './claims.ts';

/** A session that this process holds, as the parts of its run share it: whether they may go on, and what wakes them. */
export class LeasedRun {
  readonly context: Context;
  readonly run: ClaimedRun;
  /** Set once it is launched. */
  agent: AgentProcess | null = null;
  /** A limit was reached, or the run is given back, ended or lost: nothing more is begun. */
  isOver = false;
  /** It is somebody else's, or nobody's: nothing may be written. */
  isLost = false;
  /** Since when its agent has had nothing to do, by the monotonic clock; null: busy. */
  idleSince: number | null = null;
  readonly #onIdle: () => void;
  readonly #revoking = new AbortController();
  #endIdle: (() => void) | null = null;
  #isWoken = false;

  /** `onIdle` is called whenever its agent begins to have nothing to do. */
  constructor(context: Context, run: ClaimedRun, onIdle: () => void) {
    this.context = context;
    this.run = run;
    this.#onIdle = onIdle;
  }

  /** Aborts once the agent must not call its model any more. */
  get revoked(): AbortSignal {
    return this.#revoking.signal;
  }

  /** Ends the calls of its model at once, before the agent is stopped, which takes as long as its profile grants. */
  revoke(): void {
    this.#revoking.abort();
  }

  /** Ends it: the agent is stopped, and what was open stays open for the next holder. */
  end(): void {
    this.isOver = true;
    this.wake();
    void this.agent?.stop();
  }

  /** {@link end} when it may be somebody else's at any moment: the agent is killed at once. */
  abandon(): void {
    this.revoke();
    this.isOver = true;
    this.isLost = true;
    this.wake();
    void this.agent?.kill();
  }

  /** The session is no longer this worker's, or cannot be written: the agent must not go on. */
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

  /** Something happened: {@link LeasedRun.idle} ends, also when it has not begun yet. */
  wake(): void {
    this.#isWoken = true;
    this.#endIdle?.();
  }

  /** Whatever rings from here on is heard by the next {@link LeasedRun.idle}. */
  listen(): void {
    this.#isWoken = this.isOver;
  }

  /** True: rung, or over. False: nothing came for the whole time, or the warm agent ended, which harms nobody. */
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
