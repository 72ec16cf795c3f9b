import type { ChangedKind } from './change-source.ts';

/** The change of a thing for a subscriber: see `watchThings`. */
export type ChangeType = 'ADDED' | 'UPDATED' | 'LEFT' | 'REMOVED';

/** Things that are remembered of one subscription. */
const maxTracked = 1_000;

/** A thing that can be followed. */
export interface TrackedEntity {
  readonly id: string;
  /** Bare id of its organization, or of the enterprise for what belongs to it. */
  readonly scopeId: string;
  readonly kind: ChangedKind;
  readonly createdAt: Date;
}

interface TrackedState extends Pick<TrackedEntity, 'scopeId' | 'kind'> {
  readonly createdAt: number;
  /** It matched when it was reported last; false: it was reported as left. */
  readonly isIn: boolean;
}

/** The things that a subscription has reported lately. */
export interface TrackedEntities {
  /**
   * The change to report of a thing that has changed; null: none. `couldMatch`: false for a thing that never can have matched the
   * filter.
   */
  track(entity: TrackedEntity, isMatch: boolean, couldMatch: boolean): Exclude<ChangeType, 'REMOVED'> | null;
  /** Forgets a thing that was removed. Returns whether the client can have it. */
  remove(id: string): boolean;
  /** Sets the horizon to a later time. */
  moveHorizon(to: Date): void;
  /** Forgets the things that matched and are out of sight now. Returns them. */
  removeWhere(
    isHidden: (entity: Pick<TrackedEntity, 'kind' | 'scopeId'>) => boolean,
  ): Pick<TrackedEntity, 'id' | 'kind'>[];
}

/**
 * See {@link TrackedEntities}. `horizonAt`: a client cannot have a thing that was made later unless it was reported. At most
 * {@link maxTracked} are remembered; when one that matches is forgotten, the horizon moves behind its creation.
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
