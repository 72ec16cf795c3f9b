import { DomainError, refuse } from './errors.ts';

/** What a caller asks for. Cursors are opaque to it. */
export interface PageRequest {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/**
 * What arguments say of a page. Such objects all have these members in this order, so that they are alike to V8. What
 * `...rest` would leave of other arguments is not: once a program has made very many kinds of objects, each is a kind of its own.
 */
export const pageOf = ({ first, after, last, before }: PageRequest): PageRequest => ({ first, after, last, before });

/** The most a door gives in one page, and what it gives when not asked. */
export interface PageLimits {
  readonly max: number;
  readonly default: number;
}

/** A page in the list's own order, whichever end it was read from. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursorOf: (item: T) => string;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** A checked request: read `limit + 1` rows after and before the cursors' values, from the end that `backward` says. */
export interface PageWindow<C> {
  readonly limit: number;
  readonly backward: boolean;
  readonly after: C | null;
  readonly before: C | null;
}

/** Checks a request; INVALID_INPUT names the argument and the limit, BAD_CURSOR the cursor. */
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

/** The refusal of the cursor that came as `name`: BAD_CURSOR. */
export function badCursor(name: 'after' | 'before', text: string): DomainError {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const message = `"${name}" must be a cursor of this list in this order, but ${shown} is not one.`;
  return new DomainError('BAD_CURSOR', message, [{ path: [name], message }]);
}

/** Cuts the row too many off, restores the list's order and says what lies beyond. */
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

/** An opaque cursor: base64url of its parts. The first part names the list and its order, so that cursors do not mix. */
export function writeCursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join('|')).toString('base64url');
}

/**
 * The parts of a cursor written by {@link writeCursor} for the same list; null when it is not one. The last of them may have the
 * sign that stands between them.
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
  // Up to the year 9999: later ones have no text that PostgreSQL reads.
  const isTime = /^\d{1,15}$/.test(at) && Number(at) < 253_402_300_800_000;
  return isTime && /^[0-9a-z_]{1,64}$/.test(id) ? { at: new Date(Number(at)), id } : null;
}
