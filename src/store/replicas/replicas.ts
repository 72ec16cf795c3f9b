import type { Driver } from '../driver.ts';
import type { ListRead, Reader } from '../reader.ts';
import type { Replica, ReplicaState } from './replica.ts';
import { createPositions } from './wal-position.ts';

/** Interval of the checks of all replicas. */
const checkMs = 1_000;

/** The replicas that lists are read from. */
export interface Replicas {
  /** Reads a list from a replica that has everything that was visible at the call, or else from the primary. */
  read<T>(read: ListRead<T>, primary: Reader): Promise<T>;
  state(): ReplicasState;
  close(): Promise<void>;
}

/** The state of all replicas, for metrics. */
export interface ReplicasState {
  readonly replicas: readonly ReplicaState[];
  /** The number of lists that the primary had to answer. */
  readonly primaryReads: number;
}

/** Starts the use of replicas, and checks them until they are closed. Resolves after the first check. */
export async function startReplicas(
  replicas: readonly Replica[],
  primary: Pick<Driver, 'urgentQuery'>,
): Promise<Replicas> {
  // On the connections for heartbeats: lists must not wait for a full pool of the primary.
  const readPosition = createPositions((sql, values) => primary.urgentQuery(sql, values));
  let primaryReads = 0;
  let turn = 0;
  let closed: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const check = async () => {
    const at = performance.now();
    // Without the primary nothing is known about a replica. Lists fail with the error of the primary.
    const position = await readPosition().catch(() => null);
    if (position !== null) await Promise.all(replicas.map((each) => each.check(position, at)));
  };
  let checking = check();
  const scheduleCheck = () => {
    timer = setTimeout(() => {
      checking = check();
      void checking.then(() => {
        if (closed === null) scheduleCheck();
      });
    }, checkMs).unref();
  };
  await checking;
  scheduleCheck();
  const end = async () => {
    clearTimeout(timer);
    await checking;
    await Promise.all(replicas.map((each) => each.close()));
  };

  return {
    async read(read, reader) {
      const usable = replicas.filter((each) => each.state().isUsable);
      const replica = usable[turn++ % usable.length];
      const found = replica ? await replica.read(readPosition(), read) : null;
      if (found) return found.value;
      primaryReads += 1;
      return read(reader);
    },
    state: () => ({ replicas: replicas.map((each) => each.state()), primaryReads }),
    close() {
      closed ??= end();
      return closed;
    },
  };
}
