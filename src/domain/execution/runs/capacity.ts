import { availableParallelism, totalmem } from 'node:os';

/** The capacity of a worker. */
export interface Capacity {
  /** Number of concurrent sessions with an agent process. */
  readonly slots: number;
  /** Memory for all their agents, in MiB, by the estimates of their profiles. */
  readonly memoryMb: number;
}

/** The part of the machine's memory that is not for agents. */
const reservedPart = 0.15;

/**
 * Returns the configured values, or defaults: two sessions per core, and this machine's memory. If only the number of
 * sessions is configured, memory does not limit them.
 */
export function capacityOf(configured: {
  readonly maxConcurrentSessions: number | null;
  readonly agentMemoryMb: number | null;
}): Capacity {
  const { maxConcurrentSessions, agentMemoryMb } = configured;
  const machineMb = Math.floor((totalmem() / 1_048_576) * (1 - reservedPart));
  return {
    slots: maxConcurrentSessions ?? availableParallelism() * 2,
    memoryMb: agentMemoryMb ?? (maxConcurrentSessions === null ? machineMb : Number.MAX_SAFE_INTEGER),
  };
}
