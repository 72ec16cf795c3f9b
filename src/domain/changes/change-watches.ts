import type { Topic } from '../../events/topics.ts';
import type { Services } from '../context.ts';
import type { ChangePlace } from './change-place.ts';
import { type ChangeScope, type ChangeSource, type ChangeStore, scopeKey, sourceKey } from './change-source.ts';
import { type Changes, changePlaceNow, readChanges } from './read-changes.ts';

/** Changes closer together than this come as one, and than a millisecond for each organization that is read. */
const gapMs = 100;
/** How long others join a read that has begun. */
const joinMs = 1_000;

/** A source and the places of which it is read. */
export interface Followed<R> {
  readonly source: ChangeSource<R>;
  readonly scope: ChangeScope;
}

/** The same for all who read the same. */
export const followedKey = ({ source, scope }: Followed<unknown>): string => `${sourceKey(source)}|${scopeKey(scope)}`;

/** Bell, reads and catch-up that are shared by all subscriptions of one process to the same things in the same places. */
export interface ChangeWatches {
  /** Calls back when things of the source and scope, or permissions, may have changed: at once, and then with gaps. */
  listen(followed: Followed<unknown>, listener: () => void): () => void;
  /** The place of those who begin now, or have begun a moment ago. */
  placeNow(followed: Followed<unknown>): Promise<ChangePlace>;
  /** One read serves all who stand at the same place, whatever they filter. */
  read<R>(followed: Followed<R>, place: ChangePlace, limit: number): Promise<Changes<R>>;
  /** Looks for changes whose rings were lost. */
  catchUp(): Promise<void>;
  active(): number;
}

interface Watch {
  readonly followed: Followed<unknown>;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  readonly ring: () => void;
  /** The place of the last reader that has read everything. */
  place: ChangePlace | null;
  placeCount: number;
  rings: number;
  rungAt: number;
  timer: NodeJS.Timeout | null;
}

/** See {@link ChangeWatches}. */
export function createChangeWatches(services: Pick<Services, 'store' | 'bell'>): ChangeWatches {
  const { store, bell } = services;
  const watched = new Map<string, Watch>();
  const reads = new Map<string, Promise<Changes<unknown>>>();
  /** Places as text: a part of a key. By value, so that readers who resumed at different places come to share reads. */
  const places = new WeakMap<ChangePlace, string>();
  const textOf = (place: ChangePlace) => {
    const known = places.get(place);
    if (known !== undefined) return known;
    const text = `${place.xid}|${place.id}|${[...place.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)).join(';')}`;
    places.set(place, text);
    return text;
  };

  const open = (key: string, followed: Followed<unknown>): Watch => {
    const { source, scope } = followed;
    const fire = () => {
      watch.timer = null;
      watch.rungAt = performance.now();
      watch.rings += 1;
      for (const each of watch.listeners) each();
    };
    const ring = () => {
      if (watch.timer !== null) return;
      const wait = watch.rungAt + Math.max(gapMs, watch.placeCount) - performance.now();
      if (wait <= 0) fire();
      else watch.timer = setTimeout(fire, wait);
    };
    const places = [
      ...(scope.ids ?? ['*']),
      ...(scope.ids !== null && scope.withEnterprise ? [scope.enterpriseId] : []),
    ];
    const topics = source.topics.flatMap((topic) => places.map((id): Topic => `${topic}:${id}`));
    const stops = [...topics, 'keys' as const].map((topic) => bell.on(topic, ring));
    const watch: Watch = {
      followed,
      listeners: new Set(),
      stop() {
        for (const stop of stops) stop();
      },
      ring,
      place: null,
      placeCount: 0,
      rings: 0,
      rungAt: -gapMs,
      timer: null,
    };
    watched.set(key, watch);
    return watch;
  };

  return {
    listen(followed, listener) {
      const key = followedKey(followed);
      const watch = watched.get(key) ?? open(key, followed);
      // A wrapper of its own, so that the same function can listen twice.
      const own = () => listener();
      watch.listeners.add(own);
      return () => {
        if (!watch.listeners.delete(own) || watch.listeners.size > 0) return;
        watch.stop();
        if (watch.timer !== null) clearTimeout(watch.timer);
        watched.delete(key);
      };
    },
    async placeNow(followed) {
      // Readers who begin where others stand read with them from then on.
      return watched.get(followedKey(followed))?.place ?? changePlaceNow(store, followed.source, followed.scope);
    },
    read<R>(followed: Followed<R>, place: ChangePlace, limit: number) {
      const watch = watched.get(followedKey(followed));
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const key = `${followedKey(followed)}|${watch?.rings ?? 0}|${limit}|${textOf(place)}`;
      const known = reads.get(key);
      // The key says the source, and so what it reads.
      if (known !== undefined) return known as Promise<Changes<R>>;
      const forget = () => {
        clearTimeout(timer);
        if (reads.get(key) === read) reads.delete(key);
      };
      const read = readChanges(store, followed.source, followed.scope, place, limit)
        .then((changes) => {
          if (watch) watch.placeCount = changes.placeIds.size;
          if (watch && !changes.more) watch.place = changes.place;
          return changes;
        })
        .finally(forget);
      // One that is stuck must not hold up those who come later.
      const timer = setTimeout(forget, joinMs).unref();
      reads.set(key, read);
      return read;
    },
    async catchUp() {
      const bySource = new Map<string, Watch[]>();
      for (const watch of watched.values()) {
        const key = sourceKey(watch.followed.source);
        bySource.set(key, [...(bySource.get(key) ?? []), watch]);
      }
      await Promise.all([...bySource.values()].map((watches) => catchUpOf(store, watches)));
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0),
  };
}

/** The places that a watch reads: organizations by their ids, or all of an enterprise, and the enterprise itself. */
const placesOf = ({ followed: { scope } }: Watch): readonly string[] => [
  ...(scope.ids?.map((id) => `one ${id}`) ?? [`all ${scope.enterpriseId}`]),
  ...(scope.withEnterprise ? [`own ${scope.enterpriseId}`] : []),
];

/** Rings those of one source whose places have changes that were not read, or are others by now. */
async function catchUpOf(store: ChangeStore, watches: readonly Watch[]): Promise<void> {
  const [first] = watches;
  if (first === undefined) return;
  const latest = first.followed.source.tables.map(
    ({ from, id, place, where }) =>
      `(select c.changed_xid from ${from} where ${[`${place} = o.id`, ...where].join(' and ')}
         order by c.changed_xid desc, ${id} desc limit 1)`,
  );
  const rows = await store.query<{ place: string; xid: string | null; count: number }>(
    `select w.kind || ' ' || w.id as place, p.n as count, p.xid::text as xid
       from (select split_part(place, ' ', 1) as kind, split_part(place, ' ', 2) as id from unnest($1::text[]) place) w
       cross join lateral (
         select count(*)::int as n, max(x.changed_xid) as xid from (
             select o.id from organization o where w.kind = 'one' and o.id = w.id and o.deleted_at is null
             union all
             select o.id from organization o where w.kind = 'all' and o.enterprise_id = w.id and o.deleted_at is null
             union all
             select w.id where w.kind = 'own') o
           left join lateral (select max(c.changed_xid) as changed_xid from (${latest.join(' union all ')}) c) x on true) p`,
    [[...new Set(watches.flatMap(placesOf))]],
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  for (const watch of watches) {
    const { place, placeCount, ring } = watch;
    const here = placesOf(watch).flatMap((each) => found.get(each) ?? []);
    const count = here.reduce((sum, each) => sum + each.count, 0);
    const hasChanged = here.some(({ xid }) => xid !== null && place !== null && BigInt(xid) >= place.xid);
    if (place === null || hasChanged || count !== placeCount) ring();
  }
}
