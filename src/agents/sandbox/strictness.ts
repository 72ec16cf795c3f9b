import { isDeepStrictEqual } from 'node:util';
import { isInside } from './program-files.ts';

/**
 * `isolated`: the agent has its own. `host`: it has what the service's user has on the host. `unknown`: a command of
 * the operator decides.
 */
type Isolation = 'isolated' | 'host' | 'unknown';

/** The isolation of agents by a driver. The conformance tests check each claim against a running agent. */
export interface Strictness {
  /** `isolated`: the agent sees its three directories, programs of the system, and {@link Strictness.shownPaths}. */
  readonly files: Isolation;
  /** `isolated`: it sees only its own processes, and all of them end with it. */
  readonly processes: Isolation;
  /** `services`: it reaches only the services that were made reachable. `host`: everything that its machine reaches. */
  readonly network: 'services' | 'host';
  /** Resources of the machine that it cannot use up. */
  readonly limits: readonly ('temporary files' | 'memory' | 'processes' | 'disk')[];
  /** Paths of the host that it may read besides. */
  readonly shownPaths: readonly string[];
  /** The operator's command that decides what is `unknown`; null: nothing is. */
  readonly command: readonly string[] | null;
}

/** The strictness of settings that leave the choice of a driver to each worker. */
export interface StrictnessRange {
  readonly weakest: Strictness;
  readonly strictest: Strictness;
}

/**
 * Compares two sandboxes. Returns the respect in which the second may be weaker than the first, as a clause for users;
 * null: none. A command of an operator is only known to be as strict as the same command.
 */
export function findWeakness(first: StrictnessRange, second: StrictnessRange): string | null {
  // Without settings every worker makes the same choice for both.
  if (isDeepStrictEqual(first, second)) return null;
  const required = first.strictest;
  const actual = second.weakest;
  const isKept =
    isAsStrict(required.files, actual.files) &&
    isAsStrict(required.processes, actual.processes) &&
    required.limits.every((limit) => actual.limits.includes(limit)) &&
    (required.command === null || isDeepStrictEqual(required.command, actual.command));
  if (!isKept) return 'its sandbox has another driver, or none';
  if (required.network === 'services' && actual.network !== 'services')
    return 'the network of its sandbox is not "gateway"';
  if (required.files === 'host') return null;
  const isMoreShown = actual.shownPaths.some((path) => !required.shownPaths.some((shown) => isInside(path, shown)));
  return isMoreShown ? 'its sandbox shows more of the host' : null;
}

function isAsStrict(required: Isolation, actual: Isolation): boolean {
  return required === 'host' || required === actual;
}
