import type { Topic } from '../../realtime/topics.ts';
import type { Services } from '../context.ts';
import type { ChangeCursor } from './change-cursor.ts';
import { type ChangeScope, type ChangeSource, type ChangeStore, scopeKey, sourceKey } from './change-source.ts';
import { type Changes, currentChangePosition, readChanges } from './read-changes.ts';

/** Changes closer together than this come as one, and than a millisecond for each organization that is read. */
const gapMs = 100;
/** How long others join a read that has begun. */
const joinMs = 1_000;

/** A source and the places of which it is read. */
export interface WatchTarget<R> {
  readonly source: ChangeSource<R>;
  readonly scope: ChangeScope;
}

/** The same for all who read the same. */
export const watchTargetKey = ({ source, scope }: WatchTarget<unknown>): string =>
  `${sourceKey(source)}|${scopeKey(scope)}`;

/** Bell, reads and catch-up that are shared by all subscriptions of one process to the same things in the same places. */
export interface ChangeWatches {
  /** Calls back when things of the source and scope, or permissions, may have changed: at once, and then with gaps. */
  subscribe(target: WatchTarget<unknown>, listener: () => void): () => void;
  /** The place of those who begin now, or have begun a moment ago. */
  currentPosition(target: WatchTarget<unknown>): Promise<ChangeCursor>;
  /** One read serves all who stand at the same place, whatever they filter. */
  read<R>(target: WatchTarget<R>, position: ChangeCursor, limit: number): Promise<Changes<R>>;
  /** Looks for changes whose rings were lost. */
  catchUp(): Promise<void>;
  active(): number;
}

interface Watch {
  readonly target: WatchTarget<unknown>;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  readonly notify: () => void;
  /** The place of the last reader that has read everything. */
  position: ChangeCursor | null;
  scopeCount: number;
  notificationCount: number;
  notifiedAt: number;
  timer: NodeJS.Timeout | null;
}

/** See {@link ChangeWatches}. */
export function createChangeWatches(services: Pick<Services, 'store' | 'notifier'>): ChangeWatches {
  const { store, notifier } = services;
  const watched = new Map<string, Watch>();
  const reads = new Map<string, Promise<Changes<unknown>>>();
  /** Places as text: a part of a key. By value, so that readers who resumed at different places come to share reads. */
  const positionTexts = new WeakMap<ChangeCursor, string>();
  const textOf = (position: ChangeCursor) => {
    const cachedText = positionTexts.get(position);
    if (cachedText !== undefined) return cachedText;
    const text = `${position.xid}|${position.id}|${[...position.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)).join(';')}`;
    positionTexts.set(position, text);
    return text;
  };

  const open = (key: string, target: WatchTarget<unknown>): Watch => {
    const { source, scope } = target;
    const notifyListeners = () => {
      watch.timer = null;
      watch.notifiedAt = performance.now();
      watch.notificationCount += 1;
      for (const each of watch.listeners) each();
    };
    const notify = () => {
      if (watch.timer !== null) return;
      const wait = watch.notifiedAt + Math.max(gapMs, watch.scopeCount) - performance.now();
      if (wait <= 0) notifyListeners();
      else watch.timer = setTimeout(notifyListeners, wait);
    };
    const scopeIds = [
      ...(scope.ids ?? ['*']),
      ...(scope.ids !== null && scope.withEnterprise ? [scope.enterpriseId] : []),
    ];
    const topics = source.topics.flatMap((topic) => scopeIds.map((id): Topic => `${topic}:${id}`));
    const unsubscribes = [...topics, 'keys' as const].map((topic) => notifier.subscribe(topic, notify));
    const watch: Watch = {
      target,
      listeners: new Set(),
      stop() {
        for (const stop of unsubscribes) stop();
      },
      notify,
      position: null,
      scopeCount: 0,
      notificationCount: 0,
      notifiedAt: -gapMs,
      timer: null,
    };
    watched.set(key, watch);
    return watch;
  };

  return {
    subscribe(target, listener) {
      const key = watchTargetKey(target);
      const watch = watched.get(key) ?? open(key, target);
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
    async currentPosition(target) {
      // Readers who begin where others stand read with them from then on.
      return watched.get(watchTargetKey(target))?.position ?? currentChangePosition(store, target.source, target.scope);
    },
    read<R>(target: WatchTarget<R>, position: ChangeCursor, limit: number) {
      const watch = watched.get(watchTargetKey(target));
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const key = `${watchTargetKey(target)}|${watch?.notificationCount ?? 0}|${limit}|${textOf(position)}`;
      const cachedRead = reads.get(key);
      // The key says the source, and so what it reads.
      if (cachedRead !== undefined) return cachedRead as Promise<Changes<R>>;
      const forget = () => {
        clearTimeout(timer);
        if (reads.get(key) === read) reads.delete(key);
      };
      const read = readChanges(store, target.source, target.scope, position, limit)
        .then((changes) => {
          if (watch) watch.scopeCount = changes.scopeIds.size;
          if (watch && !changes.more) watch.position = changes.position;
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
        const key = sourceKey(watch.target.source);
        bySource.set(key, [...(bySource.get(key) ?? []), watch]);
      }
      await Promise.all([...bySource.values()].map((watches) => catchUpOf(store, watches)));
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0),
  };
}

/** The places that a watch reads: organizations by their ids, or all of an enterprise, and the enterprise itself. */
const scopeKeysOf = ({ target: { scope } }: Watch): readonly string[] => [
  ...(scope.ids?.map((id) => `one ${id}`) ?? [`all ${scope.enterpriseId}`]),
  ...(scope.withEnterprise ? [`own ${scope.enterpriseId}`] : []),
];

/** Rings those of one source whose places have changes that were not read, or are others by now. */
async function catchUpOf(store: ChangeStore, watches: readonly Watch[]): Promise<void> {
  const [first] = watches;
  if (first === undefined) return;
  const latest = first.target.source.tables.map(
    ({ from, id, scopeId, where }) =>
      `(select c.changed_xid from ${from} where ${[`${scopeId} = o.id`, ...where].join(' and ')}
         order by c.changed_xid desc, ${id} desc limit 1)`,
  );
  const rows = await store.query<{ scope: string; xid: string | null; count: number }>(
    `select w.kind || ' ' || w.id as scope, p.n as count, p.xid::text as xid
       from (select split_part(scope, ' ', 1) as kind, split_part(scope, ' ', 2) as id from unnest($1::text[]) scope) w
       cross join lateral (
         select count(*)::int as n, max(x.changed_xid) as xid from (
             select o.id from organization o where w.kind = 'one' and o.id = w.id and o.deleted_at is null
             union all
             select o.id from organization o where w.kind = 'all' and o.enterprise_id = w.id and o.deleted_at is null
             union all
             select w.id where w.kind = 'own') o
           left join lateral (select max(c.changed_xid) as changed_xid from (${latest.join(' union all ')}) c) x on true) p`,
    [[...new Set(watches.flatMap(scopeKeysOf))]],
  );
  const found = new Map(rows.map((row) => [row.scope, row]));
  for (const watch of watches) {
    const { position, scopeCount, notify } = watch;
    const here = scopeKeysOf(watch).flatMap((each) => found.get(each) ?? []);
    const count = here.reduce((sum, each) => sum + each.count, 0);
    const hasChanged = here.some(({ xid }) => xid !== null && position !== null && BigInt(xid) >= position.xid);
    if (position === null || hasChanged || count !== scopeCount) notify();
  }
}
