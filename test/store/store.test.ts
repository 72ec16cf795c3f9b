import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import type { Transaction } from '../../src/store/store.ts';
import { openTestStore, type TestStore, testDatabase } from '../support/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const enterprise = (id: string) => ({ id, name: 'Acme', createdAt: new Date('2026-01-02T03:04:05.678Z') });

it('returns rows of the same shape from a read, a transaction and a single write, on both databases', async () => {
  await test.store.transact((tx) => tx.prisma.enterprise.create({ data: enterprise('shape') }));
  const sql = `
    select id, created_at as "createdAt", 3::int8 as big, count(*) over () as counted, array[1, 2]::int8[] as bigs,
           '{"a":[1]}'::jsonb as json, array['x','y'] as list, array[created_at] as times, null as nothing, 1.50::numeric as exact,
           '2026-01-02'::date as day, interval '90 minutes' as period, pg_advisory_xact_lock(1) as void, '7'::xid8 as xid
      from enterprise where id = $1`;
  const createdAt = new Date('2026-01-02T03:04:05.678Z');
  const expected = [
    {
      ...{
        id: 'shape',
        createdAt,
        big: 3,
        counted: 1,
        bigs: [1, 2],
        json: { a: [1] },
        list: ['x', 'y'],
        times: [createdAt],
      },
      ...{ nothing: null, exact: '1.50', day: '2026-01-02', period: '01:30:00', void: '', xid: '7' },
    },
  ];
  expect(await test.store.query(sql, ['shape'])).toEqual(expected);
  expect(await test.store.execute(sql, ['shape'])).toEqual(expected);
  expect(await test.store.transact((tx) => tx.query(sql, ['shape']))).toEqual(expected);
});

it('accepts the same parameters on both databases, in and outside of transactions', async () => {
  const sql = `select $1::timestamptz as "at", $2::text[] as list, $3::jsonb as json, $4::int as missing, $5::boolean as yes,
                      $6::text as text, $7::timestamptz[] as times, $8::int as "undefined", $9::int8 as big`;
  const at = new Date('2026-07-01T12:00:00.001Z');
  const text = `quotes ' " \\ {,} ключ 🔑`;
  const values = [
    at,
    [text, ''],
    JSON.stringify({ text }),
    null,
    true,
    text,
    [at, null],
    undefined,
    9_007_199_254_740_991n,
  ];
  const expected = [
    {
      ...{ at, list: [text, ''], json: { text }, missing: null, yes: true, text },
      ...{ times: [at, null], undefined: null, big: 9_007_199_254_740_991 },
    },
  ];
  expect(await test.store.query(sql, values)).toEqual(expected);
  expect(await test.store.transact((tx) => tx.query(sql, values))).toEqual(expected);
});

it('stores the times that Prisma writes in UTC', async () => {
  expect(await test.store.query('show timezone')).toEqual([{ TimeZone: 'UTC' }]);
});

it('refuses uses of the store inside a transaction, instead of waiting for itself', async () => {
  const { store } = test;
  const captured = store.prisma;
  const message = /Inside transact\(\) only the transaction itself/;
  await expect(store.transact(() => store.query('select 1'))).rejects.toThrow(message);
  await expect(store.transact(() => store.execute('select 1'))).rejects.toThrow(message);
  await expect(store.transact(() => store.ping())).rejects.toThrow(message);
  await expect(store.transact(() => store.transact(() => Promise.resolve()))).rejects.toThrow(message);
  await expect(store.transact(async () => store.prisma.enterprise.count())).rejects.toThrow(message);
  await expect(store.transact(() => captured.enterprise.count())).rejects.toThrow(message);
  await expect(store.transact(() => captured.$transaction(() => Promise.resolve()))).rejects.toThrow(message);
});

it('allows work started in a transaction to use the store after it', async () => {
  const { store } = test;
  let over: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    over = resolve;
  });
  let late: Promise<unknown> = Promise.resolve();
  const tooLate: Promise<unknown>[] = [];
  await store.transact(async (tx) => {
    late = end.then(() => store.query('select 1 as one'));
    tooLate.push(
      end.then(() => tx.query('select 1')),
      end.then(() => tx.prisma.enterprise.count()),
    );
    for (const each of tooLate) each.catch(() => undefined);
  });
  over();
  expect(await late).toEqual([{ one: 1 }]);
  for (const each of tooLate) await expect(each).rejects.toThrow('The transaction is over');
});

// PGlite has one connection: the short transaction would wait for the long one.
it.skipIf(testDatabase !== 'postgres')('refuses them also after another transaction has ended meanwhile', async () => {
  const { store } = test;
  let go: () => void = () => undefined;
  const hasGone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const long = store.transact(async (tx) => {
    await hasGone;
    await tx.query('select 1');
    await store.query('select 1');
  });
  await Promise.all([
    store.transact((tx) => tx.query('select 1')),
    store.transact((tx) => tx.prisma.enterprise.count()),
  ]);
  go();
  await expect(long).rejects.toThrow(/Inside transact\(\) only the transaction itself/);
  expect(await store.query('select 1 as one')).toEqual([{ one: 1 }]);
});

it('rolls back a transaction that lasts for longer than 30 seconds', async () => {
  const { store } = test;
  let written: () => void = () => undefined;
  const hasWritten = new Promise<void>((resolve) => {
    written = resolve;
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const lasting = store.transact(async (tx) => {
    await tx.query(`insert into enterprise (id, name, created_at) values ('lasting', 'Acme', now())`);
    written();
    await new Promise(() => undefined);
  });
  const refused = expect(lasting).rejects.toMatchObject({ reason: 'A transaction lasted longer than 30 seconds.' });
  await hasWritten;
  vi.advanceTimersByTime(29_999);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await refused;
  expect(await store.prisma.enterprise.count({ where: { id: 'lasting' } })).toBe(0);
});

it('fails after a failed statement even if its error was caught: PostgreSQL would report the rollback as a commit', async () => {
  const swallowing = test.store.transact(async (tx) => {
    await tx.prisma.enterprise.create({ data: enterprise('swallowed') });
    await tx.query('select 1 / 0').catch(() => undefined);
  });
  await expect(swallowing).rejects.toThrow(/its error was ignored/);
  await expect(swallowing).rejects.toMatchObject({ cause: { code: '22012' } });
  const byPrisma = test.store.transact(async (tx) => {
    await tx.prisma.enterprise.create({ data: enterprise('swallowed') });
    await tx.prisma.enterprise.create({ data: enterprise('swallowed') }).catch(() => undefined);
  });
  await expect(byPrisma).rejects.toThrow(/its error was ignored/);
  expect(await test.store.prisma.enterprise.count({ where: { id: 'swallowed' } })).toBe(0);
});

it('reports a COMMIT that fails', async () => {
  await test.store.execute('create table late_checked (id int unique deferrable initially deferred)');
  const failing = test.store.transact((tx) => tx.query('insert into late_checked values (1), (1)'));
  await expect(failing).rejects.toThrow();
  expect(await test.store.query('select id from late_checked')).toEqual([]);
  await test.store.execute('drop table late_checked');
});

it('throws the error of the function itself, and rolls back', async () => {
  const own = new Error('mine');
  const failing = test.store.transact(async (tx) => {
    await tx.query(`insert into enterprise (id, name, created_at) values ('own', 'Acme', now())`);
    throw own;
  });
  await expect(failing).rejects.toBe(own);
  expect(await test.store.prisma.enterprise.count({ where: { id: 'own' } })).toBe(0);
});

it('runs statements that are not awaited one by one, Prisma and SQL mixed', async () => {
  const ids = await test.store.transact(async (tx) => {
    const made = ['mixed 1', 'mixed 2'].map((id) => tx.prisma.enterprise.create({ data: enterprise(id) }));
    const more = tx.query(`insert into enterprise (id, name, created_at) values ('mixed 3', 'Acme', now())`);
    await Promise.all([...made, more, tx.query('select 1')]);
    return tx.query(`select id from enterprise where id like 'mixed %' order by id`);
  });
  expect(ids).toEqual([{ id: 'mixed 1' }, { id: 'mixed 2' }, { id: 'mixed 3' }]);
});

it('commits nothing if its function did not await a Prisma statement', async () => {
  const { store } = test;
  const late: Promise<unknown>[] = [];
  const start = (tx: Transaction) => {
    late.push(tx.prisma.enterprise.create({ data: enterprise('not awaited') }).catch(() => null));
  };
  const failing = store.transact(async (tx) => {
    start(tx);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await expect(store.transact(async (tx) => start(tx))).rejects.toThrow('was not awaited');
  await Promise.all(late);
  expect(await store.prisma.enterprise.count({ where: { id: 'not awaited' } })).toBe(0);
});

it('keeps transactions apart that read a row of the same table at once by Prisma', async () => {
  const { store } = test;
  const write = (id: string) =>
    store.transact(async (tx) => {
      await tx.prisma.enterprise.create({ data: enterprise(id) });
      const rows = await Promise.all(
        ['apart 1', 'apart 2'].map((each) => tx.prisma.enterprise.findUnique({ where: { id: each } })),
      );
      await tx.query('select 1');
      return rows.map((row) => row?.id ?? null);
    });
  if (testDatabase === 'postgres') {
    const both = await Promise.all(['apart 1', 'apart 2'].map(write));
    expect(both).not.toContainEqual([null, null]);
    expect([
      ['apart 1', null],
      ['apart 1', 'apart 2'],
    ]).toContainEqual(both[0]);
    expect([
      [null, 'apart 2'],
      ['apart 1', 'apart 2'],
    ]).toContainEqual(both[1]);
  } else {
    expect(await write('apart 1')).toEqual(['apart 1', null]);
  }
});

it('runs the hooks after the commit, and none after a failure', async () => {
  const seen: (number | string)[] = [];
  await test.store.transact(async (tx) => {
    tx.afterCommit(() => seen.push('committed'));
    await tx.prisma.enterprise.create({ data: enterprise('hooks') });
    seen.push('inside');
  });
  const failing = test.store.transact(async (tx) => {
    tx.afterCommit(() => seen.push('never'));
    await tx.prisma.enterprise.create({ data: enterprise('rolled back') });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(seen).toEqual(['inside', 'committed']);
  expect(await test.store.prisma.enterprise.findUnique({ where: { id: 'rolled back' } })).toBeNull();
});

it('keeps the commit even if a hook throws, and runs the other hooks', async () => {
  const seen: string[] = [];
  const result = await test.store.transact(async (tx) => {
    tx.afterCommit(() => {
      throw new Error('hook');
    });
    tx.afterCommit(() => seen.push('second'));
    return 'result';
  });
  expect(result).toBe('result');
  expect(seen).toEqual(['second']);
});

it('runs hooks outside of the transaction', async () => {
  let read: Promise<unknown> = Promise.resolve();
  await test.store.transact(async (tx) => {
    tx.afterCommit(() => {
      read = test.store.query('select 1 as one');
    });
  });
  expect(await read).toEqual([{ one: 1 }]);
});

it('runs 100 concurrent transactions', async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `parallel ${n}`);
  await Promise.all(
    ids.map((id) =>
      test.store.transact(async (tx) => {
        await tx.prisma.enterprise.create({ data: enterprise(id) });
        await tx.query('select 1');
      }),
    ),
  );
  expect(await test.store.prisma.enterprise.count({ where: { id: { in: ids } } })).toBe(100);
});

// PGlite has one connection: two transactions never overlap.
it.skipIf(testDatabase !== 'postgres')(
  'retries a transaction that lost a deadlock, with SQL and with Prisma',
  async () => {
    const { store } = test;
    for (const api of ['sql', 'prisma'] as const) {
      const ids = [`${api} 1`, `${api} 2`] as const;
      for (const id of ids) await store.transact((tx) => tx.prisma.enterprise.create({ data: enterprise(id) }));
      let waiting = 0;
      let open: () => void = () => undefined;
      const bothHaveOne = new Promise<void>((resolve) => {
        open = resolve;
      });
      let runs = 0;
      const takeBoth = (order: readonly string[]) =>
        store.transact(async (tx) => {
          runs += 1;
          for (const id of order) {
            if (api === 'sql') await tx.query(`update enterprise set name = name || '!' where id = $1`, [id]);
            else await tx.prisma.enterprise.update({ where: { id }, data: { name: 'Acme!' } });
            waiting += 1;
            if (waiting === 2) open();
            await bothHaveOne;
          }
        });
      await Promise.all([takeBoth(ids), takeBoth(ids.toReversed())]);
      // The loser may come back before the winner wakes up, and lose once more.
      expect(runs).toBeGreaterThanOrEqual(3);
    }
  },
);

it.skipIf(testDatabase !== 'postgres')('fails when its connection ends, and continues with another one', async () => {
  const ending = test.store.transact((tx) => tx.query('select pg_terminate_backend(pg_backend_pid())'));
  await expect(ending).rejects.toThrow();
  const idle = test.store.transact(async (tx) => {
    const [own] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const client = new pg.Client({ connectionString: test.databaseUrl as string });
    await client.connect();
    await client.query('select pg_terminate_backend($1)', [own?.pid]);
    await client.end();
    await tx.query('select 1');
  });
  await expect(idle).rejects.toThrow();
  expect(await test.store.transact((tx) => tx.query('select 1 as one'))).toEqual([{ one: 1 }]);
});

it.skipIf(testDatabase !== 'postgres')(
  'continues when another process changes a table under prepared statements',
  async () => {
    const { store } = test;
    await store.execute('create table shape (a int)');
    await store.execute('insert into shape values (1)');
    const inside = () => store.transact((tx) => tx.query('select * from shape'));
    const outsideTransaction = () => store.query('select * from shape where true');
    expect(await inside()).toEqual([{ a: 1 }]);
    expect(await outsideTransaction()).toEqual([{ a: 1 }]);
    await store.execute('alter table shape add b int default 2');
    expect(await inside()).toEqual([{ a: 1, b: 2 }]);
    expect(await outsideTransaction()).toEqual([{ a: 1, b: 2 }]);
    const enterprise = { id: 'e', name: 'Acme', createdAt: new Date(), ipRanges: ['::/0'] };
    const read = { where: { id: 'e' }, select: { name: true } };
    const insideByPrisma = () => store.transact((tx) => tx.prisma.enterprise.findMany(read));
    const byPrisma = () => store.prisma.enterprise.findFirst(read);
    await store.transact((tx) => tx.prisma.enterprise.create({ data: enterprise, select: { id: true } }));
    expect([await insideByPrisma(), await byPrisma()]).toEqual([[{ name: 'Acme' }], { name: 'Acme' }]);
    await store.execute('alter table enterprise alter name type varchar(100)');
    expect([await insideByPrisma(), await byPrisma()]).toEqual([[{ name: 'Acme' }], { name: 'Acme' }]);
    const prepared = await store.query(`select name from pg_prepared_statements where statement like '%"enterprise"%'`);
    expect(prepared).not.toEqual([]);
  },
);

it('finds a few rows of a small table by its index, despite the dead rows of updates', async () => {
  const { store } = test;
  await store.transact(async (tx) => {
    await tx.query(
      `insert into session_change (session_id, organization_id, updated_at, changed_xid)
       select 's' || n, 'o', now(), '3'::xid8 from generate_series(1, 200) n`,
    );
  });
  await store.execute('analyze session_change');
  const update = `update session_change c set updated_at = now()
                    from (values ('s7')) n(id) where c.session_id = n.id`;
  const plan = await store.query<Record<string, string>>(`explain ${update}`);
  expect(JSON.stringify(plan)).not.toContain('Seq Scan');
});
