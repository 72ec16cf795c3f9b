import type { ExecutionArgs } from 'graphql';
import type { Viewer } from '../../auth/viewer.ts';
import { viewerOfAnySession } from '../../domain/identity/organizations/enterprise-scope.ts';
import type { DraftBatch } from '../../domain/sessions/live/live-draft.ts';
import { LivePush, type LiveWatches } from '../../domain/sessions/live/push-live.ts';
import type { LogBatch } from '../../domain/sessions/log-source.ts';
import type { WatchStart } from '../../domain/sessions/start-watch.ts';
import type { GraphqlContext, LogDelivery } from './context.ts';
import type { ReadyPayload } from './ready-payload.ts';
import type { SocketExtra } from './serve-socket.ts';
import type { Sender } from './slow-reader.ts';
import type { SharedOperation, SharedResults } from './subscription-results.ts';

/** Delivers the entries of a log to an operation on a socket, if it subscribes to one. */
export interface SocketDelivery extends LogDelivery {
  /**
   * Call when the operation has started, with its `args`. Returns null if it does not follow a log; otherwise an
   * iterator without results that ends with the subscription.
   */
  begin(args: ExecutionArgs, context: GraphqlContext): AsyncIterableIterator<never> | null;
}

type ReadyMessages = NonNullable<SocketExtra['readyMessages']>;
type Ending = { readonly done: true; readonly value: undefined };

const done: Ending = { done: true, value: undefined };

/**
 * Delivers the entries of a log to one operation on a socket, as messages encoded once for all subscribers that get the
 * same. They bypass graphql-ws, which only waits for the end, so a delivery costs no promises. `id`: the operation's
 * id.
 */
export function createSocketDelivery(
  results: SharedResults,
  messages: SocketExtra['readyMessages'],
  id: string,
): SocketDelivery {
  if (messages === null) throw new Error('A socket must be served before its operations.');
  return new Delivery(results, messages, id);
}

class Delivery extends LivePush<ReadyPayload> implements SocketDelivery, Sender, AsyncIterableIterator<never> {
  readonly #results: SharedResults;
  readonly #messages: ReadyMessages;
  readonly #id: string;
  #start: WatchStart | null = null;
  #operation: SharedOperation | null = null;
  #context: GraphqlContext | null = null;
  #beginning = '';
  #isOver = false;
  #error: { readonly reason: unknown } | null = null;
  #waiting: { resolve: (ending: Ending) => void; reject: (reason: unknown) => void } | null = null;

  constructor(results: SharedResults, messages: ReadyMessages, id: string) {
    super();
    this.#results = results;
    this.#messages = messages;
    this.#id = id;
  }

  accept(start: WatchStart): AsyncIterableIterator<never> {
    this.#start = start;
    return this;
  }

  begin(args: ExecutionArgs, context: GraphqlContext): AsyncIterableIterator<never> | null {
    const start = this.#start;
    if (start === null) return null;
    this.#start = null;
    const beginning = this.#messages.nextTo(this.#id);
    // Completed while it started: it has been ended, or will be.
    if (this.#isOver || beginning === null) return this;
    this.#beginning = beginning;
    this.#operation = this.#results.operationOf(args);
    this.#context = context;
    this.follow(context.watches, start);
    return this;
  }

  protected viewer(): Viewer {
    return viewerOfAnySession((this.#context as GraphqlContext).domain, 'view');
  }

  protected resultOf(batch: LogBatch, n: number): ReadyPayload | Promise<unknown> {
    const { resultOf } = this.#results;
    return resultOf(this.#operation as SharedOperation, batch, n, this.#context as GraphqlContext);
  }

  protected resultOfChunk(batch: DraftBatch): ReadyPayload | Promise<unknown> {
    const { resultOfChunk } = this.#results;
    return resultOfChunk(this.#operation as SharedOperation, batch, this.#context as GraphqlContext);
  }

  protected watches(): LiveWatches {
    return (this.#context as GraphqlContext).watches;
  }

  protected send(result: ReadyPayload): boolean {
    return this.#messages.sendReady(result.messageAfter(this.#beginning), this);
  }

  end(): void {
    this.#isOver = true;
    this.stop();
    this.#waiting?.resolve(done);
  }

  fail(error: unknown): void {
    const reason = this.#results.maskError(error);
    this.#error = { reason };
    this.#isOver = true;
    this.stop();
    this.#waiting?.reject(reason);
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
