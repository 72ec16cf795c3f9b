import type { Services } from '../context.ts';
import { type ChangePlace, type Changes, changePlaceNow, readChanges } from './changes.ts';
import type { CheckedFilter } from './session-filter.ts';

/** Changes of one organization closer together than this come as one. */
const gapMs = 100;
/** How long others join a read that has begun. */
const joinMs = 1_000;
/** Sessions read at once for one subscriber: what a slow one holds in memory. */
const batchSize = 20;

/** What all who follow an organization's sessions in one process share: the bell, the reads, the catch-up. */
export interface OrganizationWatches {
  /** Calls back when sessions of the organization may have changed: at once, and then not more often than it takes to read. */
  listen(organizationId: string, listener: () => void): () => void;
  /** Where one stands who begins now, or has begun a moment ago. */
  placeNow(organizationId: string): Promise<ChangePlace>;
  /** One read serves all who stand at the same place with the same filter. Null: there is no such organization any more. */
  read(
    organization: { readonly id: string; readonly enterpriseId: string },
    place: ChangePlace,
    filter: CheckedFilter,
  ): Promise<Changes | null>;
  /** Looks for what no ring told of. */
  catchUp(): Promise<void>;
  active(): number;
}

interface Watch {
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  readonly ring: () => void;
  /** Where whoever read last stands. */
  place: ChangePlace | null;
  rings: number;
  rungAt: number;
  timer: NodeJS.Timeout | null;
}

/** See {@link OrganizationWatches}. */
export function createOrganizationWatches(services: Pick<Services, 'store' | 'bell'>): OrganizationWatches {
  const { store, bell } = services;
  const watched = new Map<string, Watch>();
  const reads = new Map<string, Promise<Changes | null>>();
  /** So that a place can be part of a key. */
  const places = new WeakMap<ChangePlace, number>();
  let placeCount = 0;
  const numberOf = (place: ChangePlace) => {
    const known = places.get(place);
    if (known !== undefined) return known;
    placeCount += 1;
    places.set(place, placeCount);
    return placeCount;
  };

  const open = (organizationId: string): Watch => {
    const fire = () => {
      watch.timer = null;
      watch.rungAt = performance.now();
      watch.rings += 1;
      for (const each of watch.listeners) each();
    };
    const ring = () => {
      if (watch.timer !== null) return;
      const wait = watch.rungAt + gapMs - performance.now();
      if (wait <= 0) fire();
      else watch.timer = setTimeout(fire, wait);
    };
    const stop = bell.on(`organization:${organizationId}`, ring);
    const watch: Watch = { listeners: new Set(), stop, ring, place: null, rings: 0, rungAt: -gapMs, timer: null };
    watched.set(organizationId, watch);
    return watch;
  };

  return {
    listen(organizationId, listener) {
      const watch = watched.get(organizationId) ?? open(organizationId);
      // A wrapper of its own, so that the same function can listen twice.
      const own = () => listener();
      watch.listeners.add(own);
      return () => {
        if (!watch.listeners.delete(own) || watch.listeners.size > 0) return;
        watch.stop();
        if (watch.timer !== null) clearTimeout(watch.timer);
        watched.delete(organizationId);
      };
    },
    async placeNow(organizationId) {
      // Whoever begins where others stand reads with them from then on.
      return watched.get(organizationId)?.place ?? changePlaceNow(store, organizationId);
    },
    read(organization, place, filter) {
      const watch = watched.get(organization.id);
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const key = `${organization.id}|${watch?.rings ?? 0}|${numberOf(place)}|${JSON.stringify(filter)}`;
      const known = reads.get(key);
      if (known !== undefined) return known;
      const forget = () => {
        clearTimeout(timer);
        if (reads.get(key) === read) reads.delete(key);
      };
      const read = readChanges(store, organization, place, filter, batchSize)
        .then((changes) => {
          if (watch && changes && !changes.more) watch.place = changes.place;
          return changes;
        })
        .finally(forget);
      // One that is stuck must not hold up those who come later.
      const timer = setTimeout(forget, joinMs).unref();
      reads.set(key, read);
      return read;
    },
    async catchUp() {
      if (watched.size === 0) return;
      const rows = await store.query<{ id: string; xid: string | null }>(
        `select w.id, case when o.deleted_at is null then (
                  select c.changed_xid::text from session_change c where c.organization_id = w.id order by c.changed_xid desc limit 1) end as xid
           from unnest($1::text[]) w(id) left join organization o on o.id = w.id`,
        [[...watched.keys()]],
      );
      for (const { id, xid } of rows) {
        const watch = watched.get(id);
        // Null: it is gone, or empty. Whoever follows it looks whether it is there.
        if (watch && (xid === null || watch.place === null || BigInt(xid) >= watch.place.xid)) watch.ring();
      }
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0),
  };
}
