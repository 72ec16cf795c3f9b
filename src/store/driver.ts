import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';
import type { Begun, TransactionScopes } from './transaction-scope.ts';

/** One connection for a while: plain statements, and scripts of several. */
export interface Session {
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  script(sql: string): Promise<void>;
}

/**
 * A database as the store needs it; `pglite.ts` and `postgres.ts` are the two. Rows come back alike from both: timestamptz
 * as Date, int8 as number, json parsed, arrays as arrays.
 */
export interface Driver {
  readonly dialect: 'pglite' | 'postgres';
  /** What Prisma speaks to the same database through: an adapter that knows the {@link Driver.scopes}. */
  readonly adapter: SqlDriverAdapterFactory;
  readonly scopes: TransactionScopes;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement on a connection that is kept for heartbeats, so that a full pool does not delay it. */
  urgentQuery<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Asks the database for a sign of life, on a connection that is kept for that. Rejects within seconds. */
  ping(): Promise<void>;
  /** Begins a transaction, as soon as a connection is free. */
  begin(): Promise<Begun>;
  /** Runs `work` on a connection of its own and without timeouts: for migrations, whose locks and transactions span statements. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * An identity of the database that a copy of it does not have; a restart, an upgrade of the service and a failover keep it.
   * Null: not known.
   */
  readIdentity(): Promise<string | null>;
  close(): Promise<void>;
}
