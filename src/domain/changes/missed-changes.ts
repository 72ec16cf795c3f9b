import type { LogCheck } from '../../realtime/log-source.ts';
import type { ChangeLog } from './change-log.ts';
import { type ChangeStore, sourceKey } from './change-source.ts';

/** The check for missed notifications: one query for all tailed scopes of a source. */
export const createChangeCheck = (store: ChangeStore): LogCheck<ChangeLog> => ({
  async findChanged<E extends ChangeLog>(logs: readonly E[]) {
    const bySource = new Map<string, E[]>();
    for (const log of logs) {
      const key = sourceKey(log.source);
      bySource.set(key, [...(bySource.get(key) ?? []), log]);
    }
    return (await Promise.all([...bySource.values()].map((each) => findChangedOf(store, each)))).flat();
  },
});

/** The scopes that a log reads: organizations by their ids, or all of an enterprise, and the enterprise itself. */
const scopeKeysOf = ({ scope }: ChangeLog): readonly string[] => [
  ...(scope.ids?.map((id) => `one ${id}`) ?? [`all ${scope.enterpriseId}`]),
  ...(scope.withEnterprise ? [`own ${scope.enterpriseId}`] : []),
];

/** Returns those logs of one source whose scopes have changes that were not read, or other organizations than before. */
async function findChangedOf<E extends ChangeLog>(store: ChangeStore, logs: readonly E[]): Promise<E[]> {
  const [first] = logs;
  if (first === undefined) return [];
  const latest = first.source.tables.map(
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
    [[...new Set(logs.flatMap(scopeKeysOf))]],
  );
  const found = new Map(rows.map((row) => [row.scope, row]));
  return logs.filter((log) => {
    const { position, scopeCount } = log;
    const here = scopeKeysOf(log).flatMap((each) => found.get(each) ?? []);
    const count = here.reduce((sum, each) => sum + each.count, 0);
    const hasChanged = here.some(({ xid }) => xid !== null && position !== null && BigInt(xid) >= position.xid);
    return position === null || hasChanged || count !== scopeCount;
  });
}
