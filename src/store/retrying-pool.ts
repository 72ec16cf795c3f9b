import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Pauses between attempts to connect, doubled each time, with up to as much again at random. */
const pauseMs = { first: 50, max: 500 } as const;
/** Time that a pool stays small, after the server had no free connection, before it grows by one connection. */
const growAfterMs = 5_000;

/** A server that is starting, is restarting or has no free connection: it is worth waiting for. */
const retried = new Set([
  '53300',
  '57P01',
  '57P02',
  '57P03',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EAI_AGAIN',
]);

type ConnectCallback = (
  error: Error | undefined,
  client?: pg.PoolClient,
  release?: (error?: Error | boolean) => void,
) => void;

/**
 * A pool whose callers wait for a connection, up to `connectionTimeoutMillis` from the first refusal, when the server refuses
 * new ones. If the server has no room (53300), the pool makes do with the connections that it has, and grows again later.
 * A connection may fail at any time without ending the process: whatever runs on it fails, and nothing else.
 */
export class RetryingPool extends pg.Pool {
  readonly #size: number;
  readonly #waitMs: number;
  /** Since when no connection could be made. After `#waitMs` of that, callers no longer wait for the server. */
  #failingSince: number | null = null;
  #failedAt = 0;
  #resizedAt = 0;

  constructor(options: pg.PoolConfig & { readonly max: number; readonly connectionTimeoutMillis: number }) {
    super(options);
    this.#size = options.max;
    this.#waitMs = options.connectionTimeoutMillis;
    // From the creation of the connection on: between its return from the pool and its first statement there is no
    // other listener, and an `error` event without a listener ends the process.
    this.on('connect', (client) => client.on('error', ignore));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (!callback) return this.#acquire();
    const requestedAt = performance.now();
    // The way of nearly every statement: it costs no promise of ours.
    super.connect((error, client, release) => {
      if (client) {
        this.#succeed();
        callback(undefined, client, release);
        return;
      }
      this.#acquire(requestedAt, error).then(
        (acquired) => callback(undefined, acquired, acquired.release),
        (reason: Error) => callback(reason),
      );
    });
    return undefined;
  }

  /** `refusal`: why the first attempt, at `requestedAt`, has failed already. */
  async #acquire(requestedAt = performance.now(), refusal?: unknown): Promise<pg.PoolClient> {
    for (let attempt = 0; ; attempt++) {
      try {
        if (attempt === 0 && refusal !== undefined) throw refusal;
        const client = await super.connect();
        this.#succeed();
        return client;
      } catch (error) {
        const { code = '' } = error as { code?: string };
        const now = performance.now();
        // An old failure without a later one says nothing about the present.
        if (this.#failingSince === null || now - this.#failedAt > this.#waitMs) this.#failingSince = now;
        this.#failedAt = now;
        const pause = Math.min(pauseMs.first * 2 ** attempt, pauseMs.max) * (1 + Math.random());
        const until = Math.min(requestedAt, this.#failingSince) + this.#waitMs;
        if (!retried.has(code) || this.ending || now + pause > until) throw error;
        if (code === '53300') this.#shrink();
        await delay(pause);
      }
    }
  }

  #succeed(): void {
    this.#failingSince = null;
    if (this.options.max < this.#size) this.#grow();
  }

  #shrink(): void {
    this.options.max = Math.max(1, this.totalCount);
    this.#resizedAt = performance.now();
  }

  #grow(): void {
    if (performance.now() - this.#resizedAt < growAfterMs) return;
    this.options.max += 1;
    this.#resizedAt = performance.now();
  }
}

const ignore = () => undefined;
