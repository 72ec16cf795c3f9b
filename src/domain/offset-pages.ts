import { refuse } from '../common/errors.ts';
import { type PageLimits, pageWindow } from './pages.ts';

/** A page by offset, for API versions without cursors. */
export interface OffsetRequest {
  readonly first?: number | null | undefined;
  /** The number of items before the page; 0 if omitted. */
  readonly offset?: number | null | undefined;
}

/** A page with its offset in the whole list, whose order puts new items at the end. */
export interface OffsetPage<T> {
  readonly items: readonly T[];
  /** The length of the whole list. */
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

/** Checks a request; throws INVALID_INPUT with the argument's name. */
export function offsetWindow(request: OffsetRequest, limits: PageLimits): { limit: number; offset: number } {
  const { limit } = pageWindow({ first: request.first }, limits, () => null);
  const offset = request.offset ?? 0;
  if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
  return { limit, offset };
}
