import type { KeyUsage } from '../../../auth/authenticate.ts';
import type { Services } from '../../context.ts';

/** How old a key's `lastUsedAt` may be before a use writes it again. */
const flushMs = 30_000;

/** When keys were last used: kept in memory and written for all of them at once, so that no request waits for it. */
export interface KeyUses extends KeyUsage {
  start(): void;
  /** Writes what is remembered. */
  flush(): Promise<void>;
  /** Flushes and ends. */
  stop(): Promise<void>;
}

/**
 * See {@link KeyUses}. What a process that is killed had not written yet is lost: at most the last half minute. Where
 * SECRET_KEY is being changed, a key that is used moves to the new one with this.
 */
export function createKeyUses(services: Pick<Services, 'store' | 'now' | 'log'>): KeyUses {
  let used = new Map<string, { at: Date; newHash: string | null }>();
  let timer: NodeJS.Timeout | null = null;
  const flush = async () => {
    if (used.size === 0) return;
    const writing = used;
    used = new Map();
    // In the order of their ids: two processes that write the same keys wait for each other, and do not lock up.
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
