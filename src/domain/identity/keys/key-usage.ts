import type { KeyUsage } from '../../../auth/authenticate.ts';
import type { Services } from '../../context.ts';

/** Minimum age of a key's `lastUsedAt` before a use updates it. */
const flushMs = 30_000;

/**
 * The times when keys were last used: collected in memory and written in batches, so that no request waits for the
 * write.
 */
export interface KeyUses extends KeyUsage {
  start(): void;
  /** Writes the collected uses. */
  flush(): Promise<void>;
  /** Flushes and ends. */
  stop(): Promise<void>;
}

/**
 * See {@link KeyUses}. If the process is killed, uses of at most the last half minute are lost. During a rotation of
 * SECRET_KEY, this write also moves a used key to the new one.
 */
export function createKeyUses(services: Pick<Services, 'store' | 'now' | 'log'>): KeyUses {
  let used = new Map<string, { at: Date; newHash: string | null }>();
  let timer: NodeJS.Timeout | null = null;
  const flush = async () => {
    if (used.size === 0) return;
    const writing = used;
    used = new Map();
    // Sorted by id: two processes that write the same keys wait for each other instead of deadlocking.
    const ids = [...writing.keys()].sort();
    const uses = ids.map((id) => writing.get(id) as { at: Date; newHash: string | null });
    try {
      await services.store.execute(
        `update api_key k set last_used_at = greatest(k.last_used_at, v.at), token_hash = coalesce(v.hash, k.token_hash)
           from (select k.id, v.at, v.hash from unnest($1::text[], $2::timestamptz[], $3::text[]) as v(id, at, hash)
                   join api_key k on k.id = v.id order by k.id for update of k) v
          where k.id = v.id`,
        [ids, uses.map(({ at }) => at.toISOString()), uses.map(({ newHash }) => newHash)],
      );
    } catch (error) {
      services.log.warn({ err: error }, 'When keys were last used could not be written.');
    }
  };
  return {
    recordUse(apiKeyId, newHash) {
      used.set(apiKeyId, { at: services.now(), newHash });
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
