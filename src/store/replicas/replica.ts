import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { ConnectionLimits } from '../connection-settings.ts';
import { readServerIdentity } from '../database-identity.ts';
import { createPool } from '../postgres-pool.ts';
import type { ListRead } from '../reader.ts';
import { createStatementNames } from '../statement-names.ts';
import { isUnavailable } from '../unavailable.ts';
import { toParameter } from '../values.ts';
import { createReplicaHealth } from './replica-health.ts';
import { type Comparison, comparison, type WalPosition } from './wal-position.ts';

/** Maximum wait for a connection, and for the answer to a comparison: the primary can answer instead. */
const connectMs = 1_000;
const answerLimit = { 'query_timeout': 2_000 } as const;
/** Pauses between the comparisons of a replica that is behind, doubled each time. */
const pauseMs = { first: 1, max: 10 } as const;
/** serialization_failure and deadlock_detected: a standby cancels statements that its replay conflicts with. */
const conflicts = new Set(['40001', '40P01']);
/** query_canceled: the statement took too long, which it may do on any server. */
const canceled = '57014';

/** The state of a replica, for metrics. */
export interface ReplicaState {
  /** Its host and port. */
  readonly server: string;
  readonly isUsable: boolean;
  /** The time by which it is behind the primary; null: not known. */
  readonly lagMs: number | null;
  /** The number of lists that it has answered. */
  readonly reads: number;
}

/** A physical standby that lists are read from. */
export interface Replica {
  state(): ReplicaState;
  /**
   * Reads a list as soon as the replica has replayed everything up to a position of the primary. Null: it has failed, or is too late.
   * Rejects with errors of `read` that are not its own.
   */
  read<T>(position: Promise<WalPosition>, read: ListRead<T>): Promise<{ readonly value: T } | null>;
  /** Decides by a position of the primary, which was read at the time `at`, if the replica may be used. */
  check(position: WalPosition, at: number): Promise<void>;
  close(): Promise<void>;
}

/** Options of {@link openReplica}. */
export interface ReplicaOptions {
  /** Its host and port, for logs and metrics. */
  readonly server: string;
  /** The identity of the primary's database. */
  readonly identity: string;
  readonly limits: ConnectionLimits;
  /** The time that a list waits for a replica that is behind. */
  readonly maxLagMs: number;
  readonly log: Record<'warn', (fields: object, message: string) => void>;
}

/** Opens the connections to a replica. It is not used before its first {@link Replica.check}. */
export function openReplica(url: string, { server, identity, limits, maxLagMs, log }: ReplicaOptions): Replica {
  const ofLists = { ...limits, connectMs: Math.min(limits.connectMs, connectMs) };
  const pool = createPool(url, ofLists, 'switchyard lists');
  // A pool of its own: a check must not wait for lists.
  const checks = createPool(url, { ...ofLists, poolSize: 1, idleMs: 0 }, 'switchyard replica check');
  for (const each of [pool, checks]) each.on('error', () => undefined);
  const names = createStatementNames();
  const health = createReplicaHealth(server, log);
  /** Ends the statements of lists when a check finds that the replica does not answer. */
  const abandons = new Set<(reason: Error) => void>();
  let unreached: { readonly position: WalPosition; readonly at: number } | null = null;
  let lagMs: number | null = null;
  let reads = 0;

  const send = async <Row>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    limit: object = {},
  ): Promise<Row[]> => {
    const name = names.nameOf(text);
    const config = { text, values: values.map(toParameter), ...(name !== undefined && { name }), ...limit };
    try {
      return (await client.query(config)).rows as Row[];
    } catch (error) {
      names.isOutdated(text, error);
      throw error;
    }
  };

  /** Resolves to true as soon as the replica has replayed a position, and to false after the maximum lag. */
  const reach = async (client: pg.PoolClient, { lsn, timeline }: WalPosition): Promise<boolean> => {
    const deadline = performance.now() + maxLagMs;
    for (let pause: number = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.max)) {
      const [row] = await send<Comparison>(client, comparison, [lsn, timeline], answerLimit);
      if (!row?.isStandby) throw new Error('it is no standby any more');
      if (!row.isSameTimeline) throw new Error('it has another timeline than the primary');
      if (row.isReached) return true;
      if (performance.now() >= deadline) return false;
      await delay(pause);
    }
  };

  const failLate = () => health.fail(`it is more than ${maxLagMs} ms behind the primary`);

  const readOn = async <T>(
    client: pg.PoolClient,
    position: WalPosition,
    read: ListRead<T>,
    abandoned: Promise<never>,
  ): Promise<{ readonly value: T } | null> => {
    let failure: unknown = null;
    const watch = async <R>(work: Promise<R>): Promise<R> => {
      try {
        return await Promise.race([work, abandoned]);
      } catch (error) {
        failure ??= error;
        throw error;
      }
    };
    try {
      if (!(await watch(reach(client, position)))) {
        failLate();
        return null;
      }
      const query = <Row>(sql: string, values: readonly unknown[] = []) => watch(send<Row>(client, sql, values));
      const value = await read({ target: 'replica', query });
      reads += 1;
      return { value };
    } catch (error) {
      if (failure === null) throw error;
      if (endsUse(failure)) health.fail(reasonOf(failure));
      return null;
    } finally {
      // After an error, a connection may still be in use.
      client.release(failure !== null);
    }
  };

  return {
    state: () => ({ server, isUsable: health.isUsable(), lagMs, reads }),
    async read(position, read) {
      let abandon: (reason: Error) => void = () => undefined;
      const abandoned = new Promise<never>((_resolve, reject) => {
        abandon = reject;
      });
      abandoned.catch(() => undefined);
      abandons.add(abandon);
      const connecting = pool.connect();
      try {
        const [client, reached] = await Promise.allSettled([connecting, position]);
        if (client.status === 'rejected') {
          // While all connections are in use, the primary helps out.
          if (pool.totalCount < pool.options.max) health.fail(reasonOf(client.reason));
          return null;
        }
        if (reached.status === 'fulfilled') return await readOn(client.value, reached.value, read, abandoned);
        client.value.release();
        return null;
      } finally {
        abandons.delete(abandon);
      }
    },
    async check(position, at) {
      let client: pg.PoolClient | null = null;
      try {
        client = await checks.connect();
        await requireIdentity(client, identity);
        for (;;) {
          unreached ??= { position, at };
          const isReached = await reach(client, unreached.position);
          lagMs = performance.now() - unreached.at;
          if (!isReached) {
            failLate();
            break;
          }
          const isCurrent = unreached.at === at;
          unreached = null;
          if (!isCurrent) continue;
          health.succeed();
          break;
        }
        client.release();
      } catch (error) {
        client?.release(true);
        unreached = null;
        lagMs = null;
        health.fail(reasonOf(error));
        for (const abandon of abandons) abandon(error as Error);
      }
    },
    async close() {
      await Promise.all([pool.end(), checks.end()]);
    },
  };
}

async function requireIdentity(client: pg.PoolClient, identity: string): Promise<void> {
  const found = await readServerIdentity(async (text) => {
    return (await client.query<{ identity: string | null }>({ text, ...answerLimit })).rows;
  });
  if (found !== identity) throw new Error('it has another database than the primary');
}

/** Tells if an error of a statement says something about the replica, and not about the statement. */
function endsUse(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined || conflicts.has(code) || (code !== canceled && isUnavailable(error));
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || 'no reason was given';
}
