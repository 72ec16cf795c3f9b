import type { LogCheck, TailedLog } from '../../realtime/log-source.ts';
import type { Store } from '../../store/store.ts';

/** Something about a session that is tailed: its log, or its state. */
export interface TailedSession extends TailedLog {
  /** Unprefixed. */
  readonly sessionId: string;
}

/** The check for missed notifications of all tailed sessions: one query for their log heads. */
export function createSessionCheck(store: Pick<Store, 'query'>): LogCheck<TailedSession> {
  const heads = new WeakMap<TailedSession, number>();
  return {
    async findChanged(logs) {
      // A deleted organization's logs grow no more, but their readers must notice that the sessions are gone.
      const rows = await store.query<{ id: string; next: number }>(
        `select h.session_id as id, case when o.deleted_at is null then h.next_seq else -1 end as next from session_head h
           join session s on s.id = h.session_id join organization o on o.id = s.organization_id
          where h.session_id = any($1::text[])`,
        [[...new Set(logs.map(({ sessionId }) => sessionId))]],
      );
      const found = new Map(rows.map(({ id, next }) => [id, next]));
      return logs.filter((log) => {
        const head = found.get(log.sessionId);
        if (head === undefined || heads.get(log) === head) return false;
        heads.set(log, head);
        return true;
      });
    },
  };
}
