import { DomainError, refuse } from '../common/errors.ts';

/** The request of a page. Cursors are opaque to the caller. */
export interface PageRequest {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/**
 * Returns the paging arguments. All these objects have the same members in the same order, so that V8 gives them one
 * hidden class. The rest of a destructuring (`...rest`) has a class of its own for each kind of arguments once a
 * program has created very many kinds.
 */
export const pageOf = ({ first, after, last, before }: PageRequest): PageRequest => ({ first, after, last, before });

/** The maximum and the default size of a page in an API. */
export interface PageLimits {
  readonly max: number;
  readonly default: number;
}

/** A page in the list's own order, from whichever end it was read. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursorOf: (item: T) => string;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/**
 * A checked request: read `limit + 1` rows after and before the cursors' values, from the end that `backward` selects.
 */
export interface PageWindow<C> {
  readonly limit: number;
  readonly backward: boolean;
  readonly after: C | null;
  readonly before: C | null;
}

/** Checks a request; throws INVALID_INPUT with the argument and the limit, BAD_CURSOR with the cursor. */
export function pageWindow<C>(
  request: PageRequest,
  limits: PageLimits,
  parseCursor: (text: string) => C | null,
): PageWindow<C> {
  const { first, last } = request;
  if (first != null && last != null) {
    throw refuse(['first'], 'Either "first" or "last" was expected, but both were given.');
  }
  for (const [name, value] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (value == null) continue;
    if (!Number.isInteger(value) || value < 1 || value > limits.max) {
      throw refuse([name], `"${name}" must be an integer from 1 to ${limits.max}, but was ${value}.`);
    }
  }
  const read = (name: 'after' | 'before') => {
    const text = request[name];
    if (text == null) return null;
    const cursor = text.length <= 500 ? parseCursor(text) : null;
    if (cursor === null) throw badCursor(name, text);
    return cursor;
  };
  return {
    limit: first ?? last ?? limits.default,
    backward: last != null,
    after: read('after'),
    before: read('before'),
  };
}

/** Creates the BAD_CURSOR error for the cursor in the argument `name`. */
export function badCursor(name: 'after' | 'before', text: string): DomainError {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const message = `"${name}" must be a cursor of this list in this order, but ${shown} is not one.`;
  return new DomainError('BAD_CURSOR', message, [{ path: [name], message }]);
}

/** Removes the extra row, restores the list's order and sets which pages exist beyond. */
export function toPage<C, T>(rows: readonly T[], window: PageWindow<C>, cursorOf: (item: T) => string): Page<T> {
  const more = rows.length > window.limit;
  const pageRows = more ? rows.slice(0, window.limit) : [...rows];
  if (window.backward) pageRows.reverse();
  return {
    items: pageRows,
    cursorOf,
    hasNextPage: window.backward ? window.before !== null : more,
    hasPreviousPage: window.backward ? more : window.after !== null,
  };
}

/**
 * Writes an opaque cursor: base64url of its parts. The first part names the list and its order, so that cursors of
 * different lists are not mixed up.
 */
export function writeCursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join('|')).toString('base64url');
}

/**
 * Returns the parts of a cursor written by {@link writeCursor} for the same list; null if it is not one. The last part
 * may contain the separator.
 */
export function readCursor(list: string, count: number, text: string): string[] | null {
  const [name, ...parts] = Buffer.from(text, 'base64url').toString('utf8').split('|');
  if (name !== list || parts.length < count) return null;
  return parts.length === count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join('|')];
}

/** A keyset position in a list ordered by a time, then an id. */
export interface TimeCursor {
  readonly at: Date;
  readonly id: string;
}

/** Reads a {@link TimeCursor} of the named list. */
export function readTimeCursor(list: string, text: string): TimeCursor | null {
  const parts = readCursor(list, 2, text);
  if (!parts) return null;
  const [at, id] = parts as [string, string];
  // Up to the year 9999: PostgreSQL cannot read later years as text.
  const isTime = /^\d{1,15}$/.test(at) && Number(at) < 253_402_300_800_000;
  return isTime && /^[0-9a-z_]{1,64}$/.test(id) ? { at: new Date(Number(at)), id } : null;
}
