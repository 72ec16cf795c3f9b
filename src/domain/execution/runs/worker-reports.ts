import type { Context } from '../../context.ts';

/** A worker as it reports itself. */
export interface ReportingWorker {
  readonly workerId: string;
  /** The name of its host. */
  readonly host: string;
}

// A row that another worker has deleted as an old one loses its drain, but a worker that reports is never that old.
const report = `
  insert into worker as w (id, expires_at, enterprise_id, host, seen_at) values ($1, now(), $2, $3, now())
  on conflict (id) do update set enterprise_id = excluded.enterprise_id, host = excluded.host, seen_at = excluded.seen_at
  returning drain_requested_at is not null as "isDrained"`;

/** Reports that a worker runs. Returns true if it is to hand over its sessions. */
export async function reportWorker(context: Context, { workerId, host }: ReportingWorker): Promise<boolean> {
  const [row] = await context.store.execute<{ isDrained: boolean }>(report, [
    workerId,
    context.viewer.enterpriseId,
    host,
  ]);
  return row?.isDrained ?? false;
}
