import type { Batch, TailedLog } from './log-source.ts';
import type { Tail, TailReader } from './tail.ts';

/** A batch with its results: one reader makes a result, and the others with the same view reuse it. */
export interface SharedBatch<C> extends Batch<C> {
  /** By the object that made them. */
  readonly results: Map<object, unknown>;
}

/** Sends the items of a log as they are written, at the pace of the receiver. A class, so that a subscription is one object. */
export abstract class PushReader<L extends TailedLog, C, B extends Batch<C>, R> implements TailReader<L, B> {
  #tail: Tail<C> | null = null;
  #batch: B | null = null;
  /** Number of items of the batch that were sent. */
  #sent = 0;
  /** True while the receiver takes nothing more. */
  #isFull = false;

  abstract mayTake(batch: B): boolean;
  abstract end(): void;
  abstract fail(error: unknown): void;
  /**
   * Returns the result for the n-th item of a batch. If it is a promise, which must not reject, this is called again
   * after it.
   */
  protected abstract resultOf(batch: B, n: number): R | Promise<unknown>;
  /** Sends a result. False: nothing more may be sent until {@link resume}. */
  protected abstract send(result: R): boolean;

  /** Called after the n-th item of a batch was sent. */
  protected sent(_batch: B, _n: number): void {}

  /** Returns whether nothing else may be sent now: items wait, or the receiver takes nothing more. */
  protected isBusy(): boolean {
    return this.#batch !== null || this.#isFull;
  }

  /** Sends a result that is not an item of the log. Returns false if the receiver takes nothing more. */
  protected offer(result: R): boolean {
    this.#isFull = !this.send(result);
    return !this.#isFull;
  }

  /** Sends what the tail delivers to this reader. */
  protected attach(tail: Tail<C>): void {
    this.#tail = tail;
  }

  /** Forgets the tail and what was not sent. */
  protected stop(): void {
    this.#batch = null;
    this.#tail?.stop();
    this.#tail = null;
  }

  take(batch: B): void {
    this.#batch = batch;
    this.#sent = 0;
    this.proceed();
  }

  /** Call this when the receiver takes results again. */
  resume(): void {
    this.#isFull = false;
    this.proceed();
  }

  /** Sends the rest of the batch, then continues the tail. */
  protected proceed(): void {
    const batch = this.#batch;
    if (batch === null || this.#isFull) return;
    while (this.#sent < batch.items.length) {
      const result = this.resultOf(batch, this.#sent);
      if (result instanceof Promise) {
        void result.then(() => this.proceed());
        return;
      }
      this.#sent += 1;
      const mayContinue = this.offer(result);
      this.sent(batch, this.#sent - 1);
      if (!mayContinue) return;
    }
    this.#batch = null;
    this.#tail?.advance(batch.cursor);
  }
}
