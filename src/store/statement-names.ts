import { createHash } from 'node:crypto';

/** More texts than the code and the Prisma client have. Only a text built from input could exceed it, and is then not prepared. */
const maxNames = 1_000;
/** A list of values or rows, as the Prisma client writes it: there is a text for each length. */
const listOfParameters = / IN \(\$\d+,\$|\),\s?\(\$/;

/** Names under which statements are prepared, once per connection, so that PostgreSQL parses and plans them once. */
export interface StatementNames {
  /** Undefined: send it unprepared. */
  nameOf(text: string): string | undefined;
  /**
   * True if the error means that a prepared statement no longer fits its tables, because another process has migrated
   * them. That text is not prepared from then on, so that a retry succeeds.
   */
  isOutdated(text: string, error: unknown): boolean;
}

/** Creates the names of one pool. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string | undefined>();
  return {
    nameOf(text) {
      if (names.has(text)) return names.get(text);
      if (names.size >= maxNames || listOfParameters.test(text)) return undefined;
      const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
      names.set(text, name);
      return name;
    },
    isOutdated(text, error) {
      if (!isCachedPlanError(error)) return false;
      names.set(text, undefined);
      return true;
    },
  };
}

/** PostgreSQL's "cached plan must not change result type" (0A000 also means other things), or the Prisma adapter's error for it. */
export function isCachedPlanError(error: unknown): boolean {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  if (code === '0A000' && String(message).includes('cached plan')) return true;
  return cause !== null && typeof cause === 'object' && isCachedPlanError(cause);
}
