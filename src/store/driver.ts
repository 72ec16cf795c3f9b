import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';
import type { Begun, TransactionScopes } from './transaction-scope.ts';

/** One connection for a while: single statements, and scripts of several. */
export interface Session {
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  script(sql: string): Promise<void>;
}

/** The number of connections of a pool, and of those who wait for one. */
export interface PoolState {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * A database as the store needs it; `pglite.ts` and `postgres.ts` implement it. Both return the same rows: timestamptz
 * as Date, int8 as number, json parsed, arrays as arrays.
 */
export interface Driver {
  readonly dialect: 'pglite' | 'postgres';
  /** Prisma's adapter for the same database, which knows the {@link Driver.scopes}. */
  readonly adapter: SqlDriverAdapterFactory;
  readonly scopes: TransactionScopes;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement on a connection reserved for heartbeats, so that a full pool does not delay it. */
  urgentQuery<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** The connections of the pool at this moment. Null: there is no pool. */
  connections(): PoolState | null;
  /** Pings the database on a reserved connection. Rejects within seconds. */
  ping(): Promise<void>;
  /** Begins a transaction, as soon as a connection is free. */
  begin(): Promise<Begun>;
  /**
   * Runs `work` on its own connection and without timeouts: for migrations, whose locks and transactions span
   * statements.
   */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Returns an identity of the database that a copy of it does not have; a restart, an upgrade of the service and a
   * failover keep it. Null: not known.
   */
  readIdentity(): Promise<string | null>;
  close(): Promise<void>;
}
