import type { Bind, RowSource } from '../nested-pages.ts';
import { type ColumnKey, createdAtKey, updatedAtKey } from '../sort-keys.ts';
import type { ListOrder } from '../sorted-pages.ts';
import { movedSessions } from './moved-sessions.ts';
import type { CheckedFilter } from './session-filter.ts';
import { taggedSessions } from './tagged-sessions.ts';

/** A column by which lists of sessions are ordered. The indexes of `session` need one of (organization, column, id). */
interface SessionSort {
  readonly key: ColumnKey;
  /** Completes "Orders sessions by". */
  readonly meaning: string;
  /**
   * `session_change` has an index of the sessions that wait for an answer in this order: of each organization, or only of all. Null:
   * it has none.
   */
  readonly waitingIndex: 'organization' | 'all' | null;
  /** True: an index has all sessions of all organizations in this order. */
  readonly isAcross: boolean;
  /** The sessions of an organization that match a filter, from another table with this order; undefined: from `session`. */
  readonly through?: (
    filter: CheckedFilter,
    enterpriseId: string,
    organization: (bind: Bind) => string,
  ) => ((bind: Bind) => RowSource) | undefined;
}

/** The orders of lists of sessions in all APIs. The cursors of each have its name. */
export const sessionSorts = {
  createdAt: {
    key: createdAtKey,
    meaning: 'the time when they were started',
    waitingIndex: 'organization',
    isAcross: true,
    through: taggedSessions,
  },
  updatedAt: {
    key: updatedAtKey,
    meaning:
      'the time of their last activity: a change of their status or their messages, but not of their place in the archive',
    waitingIndex: 'all',
    isAcross: false,
    through: movedSessions,
  },
} as const satisfies Record<string, SessionSort>;

/** A field by which lists of sessions are ordered. */
export type SessionSortField = keyof typeof sessionSorts;

/** An order of a list of sessions. */
export type SessionOrder = ListOrder<SessionSortField>;

/** The default order of a session list. */
export const newestFirst: SessionOrder = { field: 'createdAt', direction: 'desc' };

/** Returns the order by a field. */
export const sortBy = (field: SessionSortField): SessionSort => sessionSorts[field];

/** The name of the list of sessions in this order, in cursors. */
export const sessionListName = (field: SessionSortField): string => `sessions.${field}`;
