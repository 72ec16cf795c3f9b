import pg from 'pg';
import { type ConnectionLimits, settingsWithTimeouts } from './connection-settings.ts';
import { RetryingPool } from './retrying-pool.ts';
import { valueParsers } from './values.ts';

/**
 * Time after the server's timeout when the client gives up a statement: by then the connection is dead, or the server
 * is.
 */
const answerGraceMs = 3_000;
/** Idle time before the first probe of a connection. Node has no setting for data that is never acknowledged. */
const keepAliveMs = 10_000;

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : valueParsers[oid]) ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** Creates a pool on a server, whose connections begin with the settings and timeouts of `limits`. */
export function createPool(
  databaseUrl: string,
  limits: ConnectionLimits,
  applicationName = 'switchyard',
): RetryingPool {
  const { poolSize, connectMs, statementMs, idleMs } = limits;
  const settings = settingsWithTimeouts(limits);
  return new RetryingPool({
    connectionString: databaseUrl,
    max: poolSize,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: idleMs,
    'query_timeout': statementMs + answerGraceMs,
    'application_name': applicationName,
    onConnect: (client) => client.query(settings) as unknown as undefined,
  });
}
