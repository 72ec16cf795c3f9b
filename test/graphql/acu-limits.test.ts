import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const selection = 'acuLimit { organizationId cycleAcuLimit organization { name maxCycleAcuLimit } }';
const set = (organizationId: string, cycleAcuLimit: number, token?: string) =>
  runMutation(test, 'setAcuLimit', selection, { organizationId, cycleAcuLimit }, token);
const remove = (organizationId: string, token?: string) =>
  runMutation(test, 'deleteAcuLimit', 'organizationId organization { maxCycleAcuLimit }', { organizationId }, token);

const list = async (args = '(first: 100)', token = test.adminToken) => {
  const document = `{ enterprise { acuLimits${args} {
    edges { cursor } nodes { organizationId cycleAcuLimit } pageInfo { hasNextPage hasPreviousPage } } } }`;
  const { data, errors } = await graphql(test, token, document);
  return errors ? { error: errors[0].extensions.code } : data.enterprise.acuLimits;
};

describe('ACU limits', () => {
  it('can be set, changed, listed and removed', async () => {
    const { organizationId } = await makeOrganization(test, 'Limited');
    expect((await list()).nodes.map((each: any) => each.organizationId)).not.toContain(organizationId);
    expect((await set(organizationId, 10)).acuLimit).toEqual({
      organizationId,
      cycleAcuLimit: 10,
      organization: { name: 'Limited', maxCycleAcuLimit: 10 },
    });
    expect((await set(organizationId, 0)).acuLimit.cycleAcuLimit).toBe(0);
    expect((await list()).nodes).toContainEqual({ organizationId, cycleAcuLimit: 0 });
    expect(await remove(organizationId)).toMatchObject({
      organizationId,
      organization: { maxCycleAcuLimit: null },
      userErrors: [],
    });
    expect(await remove(organizationId)).toMatchObject({ organization: { maxCycleAcuLimit: null }, userErrors: [] });
    expect((await list()).nodes.map((each: any) => each.organizationId)).not.toContain(organizationId);
  });

  it('are paged both ways, the newest organization first', async () => {
    const ids: string[] = [];
    for (const name of ['One', 'Two', 'Three']) {
      const { organizationId } = await makeOrganization(test, name);
      await set(organizationId, 5);
      ids.unshift(organizationId);
    }
    const all = await list();
    const found = all.nodes.map((each: any) => each.organizationId);
    expect(found.filter((id: string) => ids.includes(id))).toEqual(ids);
    const second = await list(`(first: 1, after: "${all.edges[0].cursor}")`);
    expect(second.nodes).toEqual([all.nodes[1]]);
    const back = await list(`(last: 1, before: "${second.edges[0].cursor}")`);
    expect(back.nodes).toEqual([all.nodes[0]]);
    expect(back.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: false });
  });

  it('are refused if invalid', async () => {
    const { organizationId } = await makeOrganization(test, 'Odd');
    expect(await set(organizationId, -1)).toMatchObject({
      acuLimit: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'cycleAcuLimit'] }],
    });
    expect(await set('org-00000000000000000000000000000000', 1)).toMatchObject({ error: 'NOT_FOUND' });
  });

  it('need MANAGE_BILLING', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Poor');
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_BILLING');
    const other = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_ORGANIZATIONS');
    expect((await set(organizationId, 3, manager.token)).acuLimit.cycleAcuLimit).toBe(3);
    expect((await list('', manager.token)).nodes).toContainEqual({ organizationId, cycleAcuLimit: 3 });
    for (const weak of [token, other.token]) {
      expect(await set(organizationId, 4, weak)).toMatchObject({ error: 'FORBIDDEN' });
      expect(await remove(organizationId, weak)).toMatchObject({ error: 'FORBIDDEN' });
    }
    expect(await list('', other.token)).toEqual({ error: 'FORBIDDEN' });
  });
});
