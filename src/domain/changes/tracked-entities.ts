import type { ChangedKind } from './change-source.ts';

/** The type of a change for a subscriber: see `watchEntities`. */
export type ChangeType = 'ADDED' | 'UPDATED' | 'LEFT' | 'REMOVED';

/** Maximum number of objects that are remembered for one subscription. */
const maxTracked = 1_000;

/** An object that can be followed. */
export interface TrackedEntity {
  readonly id: string;
  /** Unprefixed id of its organization, or of the enterprise for an object of the enterprise. */
  readonly scopeId: string;
  readonly kind: ChangedKind;
  readonly createdAt: Date;
}

interface TrackedState extends Pick<TrackedEntity, 'scopeId' | 'kind'> {
  readonly createdAt: number;
  /** True if it matched at its last report; false: it was reported as left. */
  readonly isIn: boolean;
}

/** The objects that a subscription has reported recently. */
export interface TrackedEntities {
  /**
   * Returns the change to report for a changed object; null: none. `couldMatch`: false for an object that can never
   * have matched the filter.
   */
  track(entity: TrackedEntity, isMatch: boolean, couldMatch: boolean): Exclude<ChangeType, 'REMOVED'> | null;
  /** Removes a deleted object. Returns true if the client may have it. */
  remove(id: string): boolean;
  /** Sets the horizon to a later time. */
  moveHorizon(to: Date): void;
  /** Removes the objects that matched and are no longer visible. Returns them. */
  removeWhere(
    isHidden: (entity: Pick<TrackedEntity, 'kind' | 'scopeId'>) => boolean,
  ): Pick<TrackedEntity, 'id' | 'kind'>[];
}

/**
 * See {@link TrackedEntities}. `horizonAt`: a client cannot have an object that was created later unless it was
 * reported. At most {@link maxTracked} objects are remembered; when a matching one is removed, the horizon moves to its
 * creation.
 */
export function createTrackedEntities(horizonAt: Date): TrackedEntities {
  const tracked = new Map<string, TrackedState>();
  let horizon = horizonAt.getTime();
  const remember = ({ id, kind, scopeId, createdAt }: TrackedEntity, isIn: boolean) => {
    tracked.delete(id);
    tracked.set(id, { kind, scopeId, createdAt: createdAt.getTime(), isIn });
    if (tracked.size <= maxTracked) return;
    for (const [oldest, forgotten] of tracked) {
      tracked.delete(oldest);
      if (forgotten.isIn) horizon = Math.max(horizon, forgotten.createdAt);
      return;
    }
  };
  return {
    track(entity, isMatch, couldMatch) {
      const before = tracked.get(entity.id);
      if (isMatch) {
        remember(entity, true);
        return before?.isIn ? 'UPDATED' : 'ADDED';
      }
      if (before === undefined && (!couldMatch || entity.createdAt.getTime() > horizon)) return null;
      remember(entity, false);
      return before === undefined || before.isIn ? 'LEFT' : null;
    },
    remove(id) {
      const before = tracked.get(id);
      tracked.delete(id);
      return before?.isIn !== false;
    },
    moveHorizon(to) {
      horizon = Math.max(horizon, to.getTime());
    },
    removeWhere(isHidden) {
      const removed: Pick<TrackedEntity, 'id' | 'kind'>[] = [];
      for (const [id, entity] of tracked) {
        if (!isHidden(entity)) continue;
        tracked.delete(id);
        if (entity.isIn) removed.push({ id, kind: entity.kind });
      }
      return removed;
    },
  };
}
