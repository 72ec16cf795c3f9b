import type { ChangedKind } from './change-source.ts';

/** The change of a thing for a subscriber: see `watchThings`. */
export type ChangeType = 'ADDED' | 'UPDATED' | 'LEFT' | 'REMOVED';

/** Things that are remembered of one subscription. */
const mostKnown = 1_000;

/** A thing that can be followed. */
export interface KnownThing {
  readonly id: string;
  /** Bare id of its organization, or of the enterprise for what belongs to it. */
  readonly placeId: string;
  readonly kind: ChangedKind;
  readonly createdAt: Date;
}

interface Known extends Pick<KnownThing, 'placeId' | 'kind'> {
  readonly createdAt: number;
  /** It matched when it was reported last; false: it was reported as left. */
  readonly isIn: boolean;
}

/** The things that a subscription has reported lately. */
export interface KnownThings {
  /**
   * The change to report of a thing that has changed; null: none. `couldMatch`: false for a thing that never can have matched the
   * filter.
   */
  judge(thing: KnownThing, isMatch: boolean, couldMatch: boolean): Exclude<ChangeType, 'REMOVED'> | null;
  /** Forgets a thing that was removed. Returns whether the client can have it. */
  remove(id: string): boolean;
  /** Sets the horizon to a later time. */
  moveHorizon(to: Date): void;
  /** Forgets the things that matched and are out of sight now. Returns them. */
  removeWhere(
    isOutOfSight: (thing: Pick<KnownThing, 'kind' | 'placeId'>) => boolean,
  ): Pick<KnownThing, 'id' | 'kind'>[];
}

/**
 * See {@link KnownThings}. `horizonAt`: a client cannot have a thing that was made later unless it was reported. At most
 * {@link mostKnown} are remembered; when one that matches is forgotten, the horizon moves behind its creation.
 */
export function createKnownThings(horizonAt: Date): KnownThings {
  const known = new Map<string, Known>();
  let horizon = horizonAt.getTime();
  const remember = ({ id, kind, placeId, createdAt }: KnownThing, isIn: boolean) => {
    known.delete(id);
    known.set(id, { kind, placeId, createdAt: createdAt.getTime(), isIn });
    if (known.size <= mostKnown) return;
    for (const [oldest, forgotten] of known) {
      known.delete(oldest);
      if (forgotten.isIn) horizon = Math.max(horizon, forgotten.createdAt);
      return;
    }
  };
  return {
    judge(thing, isMatch, couldMatch) {
      const before = known.get(thing.id);
      if (isMatch) {
        remember(thing, true);
        return before?.isIn ? 'UPDATED' : 'ADDED';
      }
      if (before === undefined && (!couldMatch || thing.createdAt.getTime() > horizon)) return null;
      remember(thing, false);
      return before === undefined || before.isIn ? 'LEFT' : null;
    },
    remove(id) {
      const before = known.get(id);
      known.delete(id);
      return before?.isIn !== false;
    },
    moveHorizon(to) {
      horizon = Math.max(horizon, to.getTime());
    },
    removeWhere(isOutOfSight) {
      const removed: Pick<KnownThing, 'id' | 'kind'>[] = [];
      for (const [id, thing] of known) {
        if (!isOutOfSight(thing)) continue;
        known.delete(id);
        if (thing.isIn) removed.push({ id, kind: thing.kind });
      }
      return removed;
    },
  };
}
