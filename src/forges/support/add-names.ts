import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../interface/errors.ts';

/** Names to add to a pull request. */
export interface NamesToAdd {
  readonly what: 'label' | 'reviewer';
  readonly names: readonly string[];
  /** The names that the pull request has. */
  readonly present: readonly string[];
  /**
   * Adds names in one request. Returns all names that the pull request has then; null if the forge does not say. Rejects with
   * REJECTED or NOT_FOUND if the forge refuses one of them.
   */
  add(names: readonly string[]): Promise<readonly string[] | null>;
}

/**
 * Adds the names that a pull request lacks: in one request if the forge accepts all, otherwise one by one. Adds a sentence to
 * `warnings` for each that was not added. Case does not matter.
 */
export async function addNames(warnings: string[], { what, names, present, add }: NamesToAdd): Promise<void> {
  const wanted = without(names, present);
  const warn = (refused: readonly string[], reason: string, verb = 'not added') => {
    const quoted = refused.map((name) => JSON.stringify(plainLine(name, 100))).join(', ');
    warnings.push(
      refused.length === 1
        ? `The ${what} ${quoted} was ${verb}: ${reason}`
        : `The ${what}s ${quoted} were ${verb}: ${reason}`,
    );
  };
  /** Returns true if the forge accepted all, or if the others would fail alike. */
  const tryAll = async (some: readonly string[], others: readonly string[]): Promise<boolean> => {
    try {
      const result = await add(some);
      const missing = result === null ? [] : without(some, result);
      if (missing.length > 0) warn(missing, 'the forge left it out and gave no reason.');
      return others.length === 0;
    } catch (error) {
      if (!isForgeError(error)) throw error;
      const isOfName = isForgeError(error, 'REJECTED', 'NOT_FOUND');
      if (isOfName && some.length > 1) return false;
      const isUnclear = isForgeError(error, 'UNREACHABLE', 'INVALID_RESPONSE');
      warn(isOfName ? some : [...some, ...others], error.message, isUnclear ? 'perhaps not added' : 'not added');
      return !isOfName;
    }
  };
  if (wanted.length === 0 || (await tryAll(wanted, []))) return;
  if (wanted.length === 1) return;
  for (const [index, name] of wanted.entries()) {
    if (await tryAll([name], wanted.slice(index + 1))) return;
  }
}

/** Returns the different names that are not among `others`. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const taken = new Set(others.map(keyOf));
  return [...new Map(names.map((name) => [keyOf(name), name])).values()].filter((name) => !taken.has(keyOf(name)));
}

const keyOf = (name: string) => name.toLowerCase();

/** Separates the logins of reviewers from their teams, `organization/team`. */
export function separateTeams(reviewers: readonly string[]): { logins: string[]; teams: string[] } {
  return {
    logins: reviewers.filter((name) => !name.includes('/')),
    teams: reviewers.filter((name) => name.includes('/')),
  };
}
