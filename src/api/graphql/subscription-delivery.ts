import type { ExecutionArgs } from 'graphql';
import type { Viewer } from '../../auth/viewer.ts';
import { viewerOfAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { LogBatch } from '../../domain/sessions/log-source.ts';
import { LogPush } from '../../domain/sessions/push-log.ts';
import type { WatchStart } from '../../domain/sessions/start-watch.ts';
import type { GraphqlContext, LogDelivery } from './context.ts';
import type { ReadyPayload } from './ready-payload.ts';
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

class Delivery extends LogPush<ReadyPayload> implements SocketDelivery, Sender, AsyncIterableIterator<never> {
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
    // Completed while it began: what ends it has been called, or will be.
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
