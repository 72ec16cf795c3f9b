/** Minimum time between two lines about failures of one replica. */
const lineMs = 60_000;

/** The state that decides if lists may be read from a replica. Its changes are logged. */
export interface ReplicaHealth {
  isUsable(): boolean;
  fail(reason: string): void;
  succeed(): void;
}

/** Creates the health of a replica, which is not usable until {@link ReplicaHealth.succeed} is called. */
export function createReplicaHealth(
  server: string,
  log: Record<'warn', (fields: object, message: string) => void>,
): ReplicaHealth {
  let isUsable = false;
  /** True if the log says that the replica cannot be used. */
  let isReported = false;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    isUsable: () => isUsable,
    fail(reason) {
      isUsable = false;
      const now = performance.now();
      if (isReported || now - reportedAt < lineMs) return;
      isReported = true;
      reportedAt = now;
      log.warn({ replica: server, reason }, 'A read replica cannot be used. Lists are read from the primary.');
    },
    succeed() {
      isUsable = true;
      if (!isReported) return;
      isReported = false;
      log.warn({ replica: server }, 'A read replica is used again.');
    },
  };
}
