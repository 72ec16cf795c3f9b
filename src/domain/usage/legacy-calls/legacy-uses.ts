import type { Services } from '../../context.ts';
import type { LegacyRoute, LegacyUsage } from '../../legacy-usage.ts';

/** Maximum delay of the counts. */
const flushMs = 30_000;

/** Counts that are collected in memory and written in batches, so that no request waits for the write. */
export interface LegacyUses extends LegacyUsage {
  start(): void;
  /** Writes the collected counts. */
  flush(): Promise<void>;
  /** Flushes and ends. */
  stop(): Promise<void>;
}

interface Count extends LegacyRoute {
  readonly apiKeyId: string;
  readonly enterpriseId: string;
  readonly count: number;
  readonly at: Date;
}

/**
 * See {@link LegacyUses}. Memory holds one entry for each key and route that was called within the half minute. If the
 * process is killed, unwritten counts are lost; counts that could not be written are tried again.
 */
export function createLegacyUses(services: Pick<Services, 'store' | 'now' | 'log'>): LegacyUses {
  let counts = new Map<string, Count>();
  let timer: NodeJS.Timeout | null = null;
  const add = (more: Count) => {
    const key = [more.apiKeyId, more.version, more.route].join(' ');
    const known = counts.get(key);
    const at = known && known.at > more.at ? known.at : more.at;
    counts.set(key, { ...more, count: more.count + (known?.count ?? 0), at });
  };
  const flush = async () => {
    if (counts.size === 0) return;
    // Sorted by key: two processes that write the same rows wait for each other instead of deadlocking.
    const writing = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
    counts = new Map();
    try {
      await services.store.execute(
        `insert into legacy_call as l (api_key_id, enterprise_id, version, route, count, last_called_at)
         select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[])
         on conflict (api_key_id, version, route) do update
            set count = least(l.count::bigint + excluded.count, 2147483647)::int,
                last_called_at = greatest(l.last_called_at, excluded.last_called_at)`,
        [
          writing.map(({ apiKeyId }) => apiKeyId),
          writing.map(({ enterpriseId }) => enterpriseId),
          writing.map(({ version }) => version),
          writing.map(({ route }) => route),
          writing.map(({ count }) => count),
          writing.map(({ at }) => at.toISOString()),
        ],
      );
    } catch (error) {
      for (const count of writing) add(count);
      services.log.warn({ err: error }, 'The calls of legacy routes could not be recorded. The service tries again.');
    }
  };
  return {
    record({ apiKeyId, enterpriseId }, { version, route }) {
      if (apiKeyId !== null) add({ apiKeyId, enterpriseId, version, route, count: 1, at: services.now() });
    },
    flush,
    start() {
      timer = setInterval(() => void flush(), flushMs).unref();
    },
    async stop() {
      if (timer) clearInterval(timer);
      timer = null;
      await flush();
    },
  };
}
