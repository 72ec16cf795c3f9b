import type { ExecutionArgs } from 'graphql';
import type { Viewer } from '../../auth/viewer.ts';
import { viewerOfAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { LogBatch, LogReader, LogSubscription } from '../../domain/sessions/log-tailer.ts';
import type { WatchStart } from '../../domain/sessions/start-watch.ts';
import type { GraphqlContext, LogDelivery } from './context.ts';
import type { SocketExtra } from './serve-socket.ts';
import type { Sender } from './slow-reader.ts';
import type { SharedOperation, SharedResults } from './subscription-results.ts';

/** How an operation on a socket gets the entries of a log, if it turns out to ask for that. */
export interface SocketDelivery extends LogDelivery {
  /**
   * To be called when the operation has begun: `args` are those that it began with. Null when it does not follow a log; else
   * what ends when it does, and has no results.
   */
  begin(args: ExecutionArgs, context: GraphqlContext): AsyncIterableIterator<never> | null;
}

type ReadyMessages = NonNullable<SocketExtra['readyMessages']>;
type Ending = { readonly done: true; readonly value: undefined };

const done: Ending = { done: true, value: undefined };

/**
 * The entries of a log for one operation on a socket, as messages whose bytes are made once for all who get the same. They go
 * past graphql-ws, which is left to wait for the end: thus a delivery costs no promises. `id`: that of the operation.
 */
export function createSocketDelivery(
  results: SharedResults,
  messages: SocketExtra['readyMessages'],
  id: string,
): SocketDelivery {
  if (messages === null) throw new Error('A socket must be served before its operations.');
  return new Delivery(results, messages, id);
}

class Delivery implements SocketDelivery, LogReader, Sender, AsyncIterableIterator<never> {
  readonly #results: SharedResults;
  readonly #messages: ReadyMessages;
  readonly #id: string;
  #start: WatchStart | null = null;
  #operation: SharedOperation | null = null;
  #context: GraphqlContext | null = null;
  #following: LogSubscription | null = null;
  #batch: LogBatch | null = null;
  /** How many of the batch have gone. */
  #gone = 0;
  #beginning = '';
  #isOver = false;
  #error: { readonly reason: unknown } | null = null;
  #waiting: { resolve: (ending: Ending) => void; reject: (reason: unknown) => void } | null = null;

  constructor(results: SharedResults, messages: ReadyMessages, id: string) {
    this.#results = results;
    this.#messages = messages;
    this.#id = id;
  }

  accept(start: WatchStart): AsyncIterableIterator<never> {
    this.#start = start;
    return this;
  }

  begin(args: ExecutionArgs, context: GraphqlContext): AsyncIterableIterator<never> | null {
    if (this.#start === null) return null;
    const beginning = this.#messages.nextTo(this.#id);
    // Completed while it began: what ends it has been called, or will be.
    if (this.#isOver || beginning === null) return this;
    this.#beginning = beginning;
    this.#operation = this.#results.operationOf(args);
    this.#context = context;
    this.#following = context.watches.tailer.follow(this.#start, this);
    return this;
  }

  viewer(): Viewer {
    return viewerOfAnySession((this.#context as GraphqlContext).domain, 'view');
  }

  take(batch: LogBatch): void {
    this.#batch = batch;
    this.#gone = 0;
    this.resume();
  }

  resume(): void {
    const batch = this.#batch;
    if (batch === null || this.#isOver) return;
    const { entries } = batch;
    while (this.#gone < entries.length) {
      const result = this.#resultOf(batch);
      if (result instanceof Promise) {
        // It never rejects.
        void result.then(() => this.resume());
        return;
      }
      this.#gone += 1;
      const isTaken = this.#messages.sendReady(result.messageAfter(this.#beginning), this);
      if (!isTaken) return;
    }
    this.#batch = null;
    this.#following?.next((entries[entries.length - 1] as (typeof entries)[number]).seq);
  }

  #resultOf(batch: LogBatch) {
    const { resultOf } = this.#results;
    return resultOf(this.#operation as SharedOperation, batch, this.#gone, this.#context as GraphqlContext);
  }

  end(): void {
    this.#leave();
    this.#waiting?.resolve(done);
  }

  fail(error: unknown): void {
    const reason = this.#results.maskError(error);
    this.#error = { reason };
    this.#leave();
    this.#waiting?.reject(reason);
  }

  #leave(): void {
    this.#isOver = true;
    this.#batch = null;
    this.#following?.stop();
    this.#following = null;
  }

  next(): Promise<IteratorResult<never>> {
    if (this.#error) return Promise.reject(this.#error.reason);
    if (this.#isOver) return Promise.resolve(done);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<never>> {
    this.end();
    return Promise.resolve(done);
  }

  throw(reason: unknown): Promise<IteratorResult<never>> {
    this.end();
    return Promise.reject(reason);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
