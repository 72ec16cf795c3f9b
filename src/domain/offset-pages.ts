import { refuse } from './errors.ts';
import { type PageLimits, pageWindow } from './pages.ts';

/** A page for wires that count instead of having cursors. */
export interface OffsetRequest {
  readonly first?: number | null | undefined;
  /** How many items lie before the page; none when left out. */
  readonly offset?: number | null | undefined;
}

/** A page with its place in the whole list, which is ordered so that what is new comes at its end. */
export interface OffsetPage<T> {
  readonly items: readonly T[];
  /** Of the whole list. */
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

/** Checks a request; INVALID_INPUT names the argument. */
export function offsetWindow(request: OffsetRequest, limits: PageLimits): { limit: number; offset: number } {
  const { limit } = pageWindow({ first: request.first }, limits, () => null);
  const offset = request.offset ?? 0;
  if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
  return { limit, offset };
}
