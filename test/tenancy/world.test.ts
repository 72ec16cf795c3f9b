import { expect, it } from 'vitest';
import type { TenantName } from './rows.ts';
import { startWorld } from './world.ts';

// A table in which only one tenant has rows would not test the others.
it('has the same kinds of objects in every tenant', async () => {
  const world = await startWorld();
  await world.test.close();
  const missing = [...world.rows].flatMap(([table, rows]) => {
    const tenants = new Set(rows.map((row) => world.tenantOf(table, row)));
    const isOfEnterprise = tenants.size > 0 && [...tenants].every((tenant) => ['E', 'X', 'public'].includes(tenant));
    const wanted: TenantName[] = isOfEnterprise ? ['E', 'X'] : ['A', 'B', 'X'];
    return wanted.filter((tenant) => !tenants.has(tenant)).map((tenant) => `${table} of ${tenant}`);
  });
  expect(
    missing,
    'These tables have no rows of these tenants: plant them, with canaries in their texts, in test/tenancy/tenant.ts, or say in rows.ts that they are nobody’s.',
  ).toEqual([]);
});
