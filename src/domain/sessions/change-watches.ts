import type { Topic } from '../../events/topics.ts';
import type { Services } from '../context.ts';
import { type ChangePlace, type ChangeScope, type Changes, changePlaceNow, readChanges } from './changes.ts';

/** Changes closer together than this come as one, and than a millisecond for each organization that is read. */
const gapMs = 100;
/** How long others join a read that has begun. */
const joinMs = 1_000;

/** What all who follow the sessions of the same organizations in one process share: the bell, the reads, the catch-up. */
export interface ChangeWatches {
  /** Calls back when sessions of the scope, or permissions, may have changed: at once, and then with gaps. */
  listen(scope: ChangeScope, listener: () => void): () => void;
  /** The place of those who begin now, or have begun a moment ago. */
  placeNow(scope: ChangeScope): Promise<ChangePlace>;
  /** One read serves all who stand at the same place, whatever they filter. */
  read(scope: ChangeScope, place: ChangePlace, limit: number): Promise<Changes>;
  /** Looks for changes whose rings were lost. */
  catchUp(): Promise<void>;
  active(): number;
}

interface Watch {
  readonly scope: ChangeScope;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  readonly ring: () => void;
  /** The place of the last reader that has read everything. */
  place: ChangePlace | null;
  organizationCount: number;
  rings: number;
  rungAt: number;
  timer: NodeJS.Timeout | null;
}

/** The same for all readers of the same organizations. */
export const scopeKey = ({ enterpriseId, ids }: ChangeScope): string =>
  `${enterpriseId}|${ids === null ? '*' : ids.toSorted().join(',')}`;

/** See {@link ChangeWatches}. */
export function createChangeWatches(services: Pick<Services, 'store' | 'bell'>): ChangeWatches {
  const { store, bell } = services;
  const watched = new Map<string, Watch>();
  const reads = new Map<string, Promise<Changes>>();
  /** Places as text: a part of a key. By value, so that readers who resumed at different places come to share reads. */
  const places = new WeakMap<ChangePlace, string>();
  const textOf = (place: ChangePlace) => {
    const known = places.get(place);
    if (known !== undefined) return known;
    const text = `${place.xid}|${place.id}|${[...place.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)).join(';')}`;
    places.set(place, text);
    return text;
  };

  const open = (key: string, scope: ChangeScope): Watch => {
    const fire = () => {
      watch.timer = null;
      watch.rungAt = performance.now();
      watch.rings += 1;
      for (const each of watch.listeners) each();
    };
    const ring = () => {
      if (watch.timer !== null) return;
      const wait = watch.rungAt + Math.max(gapMs, watch.organizationCount) - performance.now();
      if (wait <= 0) fire();
      else watch.timer = setTimeout(fire, wait);
    };
    const topics = scope.ids?.map((id): Topic => `organization:${id}`) ?? (['organization:*'] as const);
    const stops = [...topics, 'keys' as const].map((topic) => bell.on(topic, ring));
    const watch: Watch = {
      scope,
      listeners: new Set(),
      stop() {
        for (const stop of stops) stop();
      },
      ring,
      place: null,
      organizationCount: 0,
      rings: 0,
      rungAt: -gapMs,
      timer: null,
    };
    watched.set(key, watch);
    return watch;
  };

  return {
    listen(scope, listener) {
      const key = scopeKey(scope);
      const watch = watched.get(key) ?? open(key, scope);
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
    async placeNow(scope) {
      // Readers who begin where others stand read with them from then on.
      return watched.get(scopeKey(scope))?.place ?? changePlaceNow(store, scope);
    },
    read(scope, place, limit) {
      const watch = watched.get(scopeKey(scope));
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const key = `${scopeKey(scope)}|${watch?.rings ?? 0}|${limit}|${textOf(place)}`;
      const known = reads.get(key);
      if (known !== undefined) return known;
      const forget = () => {
        clearTimeout(timer);
        if (reads.get(key) === read) reads.delete(key);
      };
      const read = readChanges(store, scope, place, limit)
        .then((changes) => {
          if (watch) watch.organizationCount = changes.organizationIds.size;
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
      const watches = [...watched.values()];
      if (watches.length === 0) return;
      const ids = [...new Set(watches.flatMap(({ scope }) => scope.ids ?? []))];
      const enterpriseIds = [
        ...new Set(watches.flatMap(({ scope }) => (scope.ids === null ? [scope.enterpriseId] : []))),
      ];
      const latest = (where: string) =>
        `(select c.changed_xid::text from organization o cross join lateral (
           select c.changed_xid from session_change c where c.organization_id = o.id order by c.changed_xid desc limit 1) c
          where ${where} and o.deleted_at is null order by c.changed_xid desc limit 1)`;
      const rows = await store.query<{ id: string; xid: string | null; count: number }>(
        `select w.id, ${latest('o.id = w.id')} as xid,
                (select count(*)::int from organization o where o.id = w.id and o.deleted_at is null) as count
           from unnest($1::text[]) w(id)
         union all
         select w.id, ${latest('o.enterprise_id = w.id')} as xid,
                (select count(*)::int from organization o where o.enterprise_id = w.id and o.deleted_at is null) as count
           from unnest($2::text[]) w(id)`,
        [ids, enterpriseIds],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const { scope, place, organizationCount, ring } of watches) {
        const here = (scope.ids ?? [scope.enterpriseId]).flatMap((id) => found.get(id) ?? []);
        const count = here.reduce((sum, each) => sum + each.count, 0);
        const hasChanged = here.some(({ xid }) => xid !== null && place !== null && BigInt(xid) >= place.xid);
        if (place === null || hasChanged || count !== organizationCount) ring();
      }
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0),
  };
}
