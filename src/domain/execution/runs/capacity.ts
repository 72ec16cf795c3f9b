import { availableParallelism, totalmem } from 'node:os';

/** How much a worker takes on. */
export interface Capacity {
  /** Sessions with an agent process at once. */
  readonly slots: number;
  /** What their agents may take together, in MiB, as their profiles reckon. */
  readonly memoryMb: number;
}

/** Of the machine's memory, what is not for agents. */
const reservedPart = 0.15;

/**
 * What is configured, else twice the cores, and what this machine has. Who says how many sessions, and not how much memory,
 * is taken at that word.
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
