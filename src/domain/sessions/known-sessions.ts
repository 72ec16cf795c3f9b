import type { SessionRecord } from './session.ts';

/** How a session changed for a subscriber: see `watchChanges`. */
export type ChangeType = 'ADDED' | 'UPDATED' | 'LEFT' | 'REMOVED';

/** Sessions that are remembered of one subscription. */
const mostKnown = 1_000;

interface Known {
  readonly organizationId: string;
  readonly createdAt: number;
  /** It matched when it was reported last; false: it was reported as left. */
  readonly isIn: boolean;
}

/** The sessions that a subscription has reported lately. */
export interface KnownSessions {
  /**
   * The change to report of a session that has changed; null: none. `couldMatch`: false for a session that never can have matched
   * the filter.
   */
  judge(session: SessionRecord, isMatch: boolean, couldMatch: boolean): Exclude<ChangeType, 'REMOVED'> | null;
  /** Sets the horizon to a later time. */
  moveHorizon(to: Date): void;
  /** Forgets the sessions that matched in organizations that are out of sight. Returns their ids. */
  removeWhere(isOutOfSight: (organizationId: string) => boolean): string[];
}

/**
 * See {@link KnownSessions}. `horizonAt`: a client cannot have a session that was started later unless it was reported. At most
 * {@link mostKnown} are remembered; when one that matches is forgotten, the horizon moves behind its start.
 */
export function createKnownSessions(horizonAt: Date): KnownSessions {
  const known = new Map<string, Known>();
  let horizon = horizonAt.getTime();
  const remember = ({ id, organizationId, createdAt }: SessionRecord, isIn: boolean) => {
    known.delete(id);
    known.set(id, { organizationId, createdAt: createdAt.getTime(), isIn });
    if (known.size <= mostKnown) return;
    for (const [oldest, forgotten] of known) {
      known.delete(oldest);
      if (forgotten.isIn) horizon = Math.max(horizon, forgotten.createdAt);
      return;
    }
  };
  return {
    judge(session, isMatch, couldMatch) {
      const before = known.get(session.id);
      if (isMatch) {
        remember(session, true);
        return before?.isIn ? 'UPDATED' : 'ADDED';
      }
      if (before === undefined && (!couldMatch || session.createdAt.getTime() > horizon)) return null;
      remember(session, false);
      return before === undefined || before.isIn ? 'LEFT' : null;
    },
    moveHorizon(to) {
      horizon = Math.max(horizon, to.getTime());
    },
    removeWhere(isOutOfSight) {
      const removed: string[] = [];
      for (const [id, { organizationId, isIn }] of known) {
        if (!isOutOfSight(organizationId)) continue;
        known.delete(id);
        if (isIn) removed.push(id);
      }
      return removed;
    },
  };
}
