/** A position in the write-ahead log of the primary. */
export interface WalPosition {
  readonly lsn: string;
  /** The timeline, which changes with each failover: positions of different timelines cannot be compared. */
  readonly timeline: number;
}

// A commit becomes visible when it is flushed, before its client gets an answer. With synchronous_commit = off it becomes visible at
// once, so only the end of the log has it.
const ofPrimary = `
  select w.lsn::text as lsn, ('x' || left(pg_walfile_name(w.lsn), 8))::bit(32)::int as timeline
    from (select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
                      else pg_current_wal_flush_lsn() end as lsn) w`;

/**
 * Compares a standby with a position of the primary. $1: the position, $2: its timeline. A standby records its timeline at its
 * restartpoints, so after a failover it is some minutes late with the new one.
 */
export const comparison = `
  select pg_is_in_recovery() as "isStandby", c.timeline_id = $2::int as "isSameTimeline",
         coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as "isReached"
    from pg_control_checkpoint() c`;

/** The row of {@link comparison}. */
export interface Comparison {
  readonly isStandby: boolean;
  readonly isSameTimeline: boolean;
  readonly isReached: boolean;
}

type Query = (sql: string, values: readonly unknown[]) => Promise<WalPosition[]>;

/** Reads the position of the primary. */
export async function readPosition(query: Query): Promise<WalPosition> {
  const [position] = await query(ofPrimary, []);
  return position as WalPosition;
}

/**
 * Returns a function that reads the position of the primary: everything that was visible at the call is before it. Calls during a read
 * share the next read, so that any number of lists costs one small statement at a time.
 */
export function createPositions(query: Query): () => Promise<WalPosition> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<WalPosition> | null = null;
  const read = async (): Promise<WalPosition> => {
    next = null;
    const reading = readPosition(query);
    running = reading.catch(() => undefined);
    return reading;
  };
  return () => {
    next ??= running.then(read);
    return next;
  };
}
