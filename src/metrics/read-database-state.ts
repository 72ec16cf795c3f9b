import type { Store } from '../store/store.ts';
import type { Metrics } from './metrics.ts';

/** Scrapes within this time share one read. */
const freshMs = 10_000;

/** The statuses of sessions that are not over. */
const statuses = ['new', 'claimed', 'running', 'resuming', 'suspended'] as const;

// Each part reads a partial index of sessions that are not over. Suspended ones may be many: the count ends at 100,000.
const readSessions = `
  select status, count(*)::int as n, null::float8 as "oldestAge" from session where status = 'running' group by 1
  union all
  select 'suspended', count(*)::int, null from (select from session where status = 'suspended' limit 100000) as suspended
  union all
  select s.status, count(*)::int, extract(epoch from $1::timestamptz - min(r.queued_at))::float8
    from run r join session s on s.id = r.session_id
   where r.queued_at is not null and s.status in ('new', 'resuming', 'claimed') group by 1`;

// The index of deliveries begins with the endpoint. A delivery that is not pending has no next attempt.
const readWebhooks = `
  select coalesce(sum(d.n), 0)::int as n, extract(epoch from $1::timestamptz - min(d.oldest))::float8 as "oldestAge"
    from webhook_endpoint e cross join lateral (
      select count(*) as n, min(created_at) as oldest from (
        select created_at from webhook_delivery
         where endpoint_id = e.id and next_attempt_at is not null order by next_attempt_at limit 10000) as pending) as d`;

const readOverdue = `
  select count(*)::int as n from automation
   where due_at < $1::timestamptz - interval '30 seconds' and is_enabled and deleted_at is null`;

interface SessionRow {
  readonly status: string;
  readonly n: number;
  readonly oldestAge: number | null;
}

/** Options of {@link createDatabaseState}. */
export interface DatabaseStateOptions {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

/**
 * Creates the function that updates the metrics of the whole database before a scrape. If the database does not answer, they are
 * absent from the response: old values would hide the outage.
 */
export function createDatabaseState({ store, metrics, now }: DatabaseStateOptions): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const { sessions, queueOldestAge, webhookBacklog, webhookOldestAge, automationsOverdue, stateErrors } = metrics;

  const read = async () => {
    try {
      const at = [now()];
      const [rows, [webhooks], [overdue]] = await Promise.all([
        store.query<SessionRow>(readSessions, at),
        store.query<{ n: number; oldestAge: number | null }>(readWebhooks, at),
        store.query<{ n: number }>(readOverdue, at),
      ]);
      const countOf = (status: string) => rows.find((row) => row.status === status)?.n ?? 0;
      for (const status of statuses) sessions.set({ status }, countOf(status));
      const waiting = rows.filter(({ status }) => status === 'new' || status === 'resuming');
      queueOldestAge.set(Math.max(0, ...waiting.map(({ oldestAge }) => oldestAge ?? 0)));
      webhookBacklog.set(webhooks?.n ?? 0);
      webhookOldestAge.set(Math.max(0, webhooks?.oldestAge ?? 0));
      automationsOverdue.set(overdue?.n ?? 0);
      readAt = performance.now();
    } catch {
      stateErrors.inc();
      sessions.reset();
      for (const each of [queueOldestAge, webhookBacklog, webhookOldestAge, automationsOverdue]) each.remove();
    }
  };
  return async () => {
    if (performance.now() - readAt < freshMs) return;
    reading ??= read().finally(() => {
      reading = null;
    });
    await reading;
  };
}
