import { ForgeError } from '../interface/errors.ts';
import type { RepositoryAccess } from '../interface/forge.ts';

/** Time for which an answer is used again. A right that is withdrawn counts for as long. */
const keptMs = 5 * 60_000;
const maxKept = 1_000;
/** Logins of all forges: letters, digits, `_.-`, and the suffix of GitHub's Apps. */
const loginForm = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}(?:\[bot\])?$/;

/**
 * Creates the `accessOf` of a forge from a request for one account. Answers are kept for 5 minutes, and accounts that the
 * forge does not know have no access. A text that cannot be a login has none either, without a request.
 */
export function createAccessOf(
  now: () => number,
  read: (path: string, login: string) => Promise<RepositoryAccess>,
): (path: string, login: string) => Promise<RepositoryAccess> {
  const kept = new Map<string, { readonly until: number; readonly access: Promise<RepositoryAccess> }>();
  return async (path, login) => {
    if (!loginForm.test(login)) return 'none';
    const key = `${path}\n${login}`.toLowerCase();
    const found = kept.get(key);
    if (found && found.until > now()) return await found.access;
    const access = read(path, login).catch((error: unknown) => {
      if (error instanceof ForgeError && error.code === 'NOT_FOUND') return 'none' as const;
      kept.delete(key);
      throw error;
    });
    kept.delete(key);
    kept.set(key, { until: now() + keptMs, access });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return await access;
  };
}
