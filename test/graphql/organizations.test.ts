import { describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { globalIdOf, makeKey } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const run = (field: string, selection: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, selection, input, token);

const fields = 'organization { organizationId name maxCycleAcuLimit maxSessionAcuLimit }';
const update = (input: Record<string, unknown>, token?: string) => run('updateOrganization', fields, input, token);
const remove = (organizationId: string, token?: string) =>
  run('deleteOrganization', 'deletedOrganizationId', { organizationId }, token);

/** A service user's token with a custom role of these permissions on the enterprise. */
async function tokenWith(...permissions: string[]): Promise<string> {
  const { store, now } = test.app.services;
  const roleId = newId();
  const made = await run('createServiceUser', 'serviceUser { serviceUserId }', {
    name: 'Robot',
    roleId: 'account_member',
    scope: { enterprise: true },
  });
  const { serviceUserId } = made.serviceUser;
  await store.transact(async (tx) => {
    const [{ id: enterpriseId } = { id: '' }] = await tx.query<{ id: string }>('select id from enterprise');
    await tx.query(
      `insert into role (id, enterprise_id, name, scope, permissions, created_at) values ($1, $2, $3, 'enterprise', $4::text[], $5::timestamptz)`,
      [roleId, enterpriseId, roleId, permissions, now()],
    );
    await tx.query('update role_assignment set role_id = $2 where service_user_id = $1', [
      serviceUserId.replace('service-user-', ''),
      roleId,
    ]);
  });
  return makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
}

describe('createOrganization', () => {
  it('accepts the limits', async () => {
    const made = await run('createOrganization', fields, {
      name: 'Thrifty',
      maxCycleAcuLimit: 100,
      maxSessionAcuLimit: 3,
    });
    expect(made.organization).toMatchObject({ name: 'Thrifty', maxCycleAcuLimit: 100, maxSessionAcuLimit: 3 });
  });
});

describe('updateOrganization', () => {
  it('changes given values, clears null ones, keeps omitted ones', async () => {
    const { organizationId } = await makeOrganization(test, 'Before');
    const clientMutationId = 'mine';
    const limits = { maxCycleAcuLimit: 100, maxSessionAcuLimit: 5 };
    expect(await update({ organizationId, ...limits, clientMutationId })).toEqual({
      organization: { organizationId, name: 'Before', ...limits },
      userErrors: [],
      clientMutationId,
    });
    const globalId = globalIdOf('Organization', organizationId.replace('org-', ''));
    const { organization } = await update({ organizationId: globalId, name: 'After', maxSessionAcuLimit: null });
    expect(organization).toEqual({ organizationId, name: 'After', maxCycleAcuLimit: 100, maxSessionAcuLimit: null });
    const read = await graphql(
      test,
      test.adminToken,
      `query($id: ID!) { ${fields.replace('organization', 'organization(id: $id)')} }`,
      {
        id: organizationId,
      },
    );
    expect(read.data.organization).toEqual(organization);
  });

  it.each([
    [{ name: null }, 'name', /"name" must not be null/],
    [{ name: ' ' }, 'name', /"name" must not be empty/],
    [{ maxCycleAcuLimit: -1 }, 'maxCycleAcuLimit', /must not be negative/],
    [{ maxSessionAcuLimit: -1 }, 'maxSessionAcuLimit', /must not be negative/],
  ])('refuses %j', async (input, name, message) => {
    const { organization, userErrors } = await update({ organizationId: test.organizationId, ...input });
    expect(organization).toBeNull();
    expect(userErrors).toEqual([
      { code: 'INVALID_INPUT', message: expect.stringMatching(message), path: ['input', name] },
    ]);
  });

  it('lets MANAGE_BILLING change the limits, and only MANAGE_ORGANIZATIONS the name', async () => {
    const { organizationId, token: orgAdmin } = await makeOrganization(test, 'Billed');
    const billing = await tokenWith('ManageBilling');
    const managing = await tokenWith('ManageOrganizations');
    const reading = await tokenWith('ReadAccountMeta');
    const paid = await update({ organizationId, maxCycleAcuLimit: 1, maxSessionAcuLimit: 1 }, billing);
    expect(paid.organization).toMatchObject({ maxCycleAcuLimit: 1, maxSessionAcuLimit: 1 });
    const all = await update(
      { organizationId, name: 'Managed', maxCycleAcuLimit: null, maxSessionAcuLimit: 2 },
      managing,
    );
    expect(all.organization).toMatchObject({ name: 'Managed', maxCycleAcuLimit: null, maxSessionAcuLimit: 2 });
    const refused = { error: 'FORBIDDEN', message: 'Missing permission MANAGE_ORGANIZATIONS.' };
    expect(await update({ organizationId, name: 'Mine', maxCycleAcuLimit: 2 }, billing)).toEqual(refused);
    expect(await update({ organizationId, maxCycleAcuLimit: 2 }, reading)).toEqual(refused);
    expect(await update({ organizationId, maxCycleAcuLimit: 2 }, orgAdmin)).toEqual(refused);
  });

  it('is NOT_FOUND for an unknown id', async () => {
    expect(await update({ organizationId: `org-${'0'.repeat(32)}`, name: 'x' })).toMatchObject({ error: 'NOT_FOUND' });
    expect(await update({ organizationId: 'nonsense', name: 'x' })).toMatchObject({ error: 'NOT_FOUND' });
  });
});

describe('deleteOrganization', () => {
  it('sets references to it and its objects to null, and ends open streams', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Doomed');
    const bare = organizationId.replace('org-', '');
    const id = await createSession(test, { organizationId });
    const globalIds = [globalIdOf('Organization', bare), globalIdOf('Session', id)];
    const everything = `query($ids: [ID!]!, $session: ID!, $node: ID!, $organization: ID!) {
      nodes(ids: $ids) { id } session(id: $session) { id } node(id: $node) { id } organization(id: $organization) { id }
      organizations { nodes { organizationId } } enterprise { organizations { nodes { organizationId } } } }`;
    const variables = { ids: globalIds, session: id, node: globalIds[1], organization: organizationId };
    const before = await graphql(test, test.adminToken, everything, variables);
    expect(before.data.nodes).toEqual(globalIds.map((each) => ({ id: each })));

    const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
    const changes = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { status } }';
    const administrators = connect(test.url, test.adminToken);
    const own = connect(test.url, token);
    const open = [
      follow(administrators, messages, { id }),
      follow(administrators, changes, { id }),
      follow(own, messages, { id }),
    ];
    await Promise.all(open.map((each) => each.take(1)));

    expect(await remove(organizationId)).toMatchObject({
      deletedOrganizationId: globalIds[0],
      userErrors: [],
    });
    const [first, second, third] = await Promise.all(open.map((each) => each.ended));
    expect([first, second]).toEqual(['complete', 'complete']);
    // Its session and its key are both deleted: either may be noticed first.
    if (third !== 'complete') expect(third).toMatchObject({ code: 4403 });
    await expect.poll(() => test.app.watches.active()).toBe(0);

    const { data, errors } = await graphql(test, test.adminToken, everything, variables);
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({ nodes: [null, null], session: null, node: null, organization: null });
    const left = before.data.organizations.nodes.filter((each: any) => each.organizationId !== organizationId);
    expect(data.organizations.nodes).toEqual(left);
    expect(data.enterprise.organizations.nodes).toEqual(left);
    const named = { sessionId: id };
    expect(await run('sendMessage', 'message { seq }', { ...named, body: 'x' })).toMatchObject({
      error: 'NOT_FOUND',
    });
    expect(await run('terminateSession', 'session { id }', named)).toMatchObject({ error: 'NOT_FOUND' });
    const errorsOfIts = await follow(connect(test.url, test.adminToken), messages, { id }).errors();
    expect(errorsOfIts).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(await remove(organizationId)).toMatchObject({ error: 'NOT_FOUND' });
    expect((await graphql(test, token, '{ viewer { principalType } }')).status).toBe(401);
  });

  it('needs MANAGE_ORGANIZATIONS', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Kept');
    for (const each of [token, await tokenWith('ManageBilling', 'ReadAccountMeta')]) {
      expect(await remove(organizationId, each)).toMatchObject({
        error: 'FORBIDDEN',
        message: 'Missing permission MANAGE_ORGANIZATIONS.',
      });
    }
  });
});

describe('the IP access list', () => {
  const list = async (token = test.adminToken) => graphql(test, token, '{ enterprise { name ipAccessList } }');
  const payload = 'ipRanges enterprise { ipAccessList }';

  it('is read on the enterprise, and can be extended, reduced, replaced and emptied', async () => {
    expect((await list()).data.enterprise).toMatchObject({ ipAccessList: [] });
    const here = ['127.0.0.1', '::1'];
    const first = await run('replaceIpAccessListRanges', payload, { ipRanges: here, clientMutationId: 'mine' });
    expect(first).toEqual({
      ipRanges: here,
      enterprise: { ipAccessList: here },
      userErrors: [],
      clientMutationId: 'mine',
    });
    const more = await run('addIpAccessListRanges', payload, { ipRanges: ['10.1.2.3/8'] });
    expect(more.ipRanges).toEqual([...here, '10.0.0.0/8']);
    const away = await run('replaceIpAccessListRanges', payload, { ipRanges: ['10.0.0.0/8'] });
    expect(away).toMatchObject({
      ipRanges: null,
      enterprise: null,
      userErrors: [
        { code: 'INVALID_STATE', message: expect.stringMatching(/lock you out/), path: ['input', 'ipRanges'] },
      ],
    });
    const bad = await run('addIpAccessListRanges', payload, { ipRanges: ['::2', 'x'] });
    expect(bad.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'ipRanges', '1'] }]);
    expect((await list()).data.enterprise.ipAccessList).toEqual([...here, '10.0.0.0/8']);
    const less = await run('removeIpAccessListRanges', payload, { ipRanges: ['10.9.9.9/8', '192.0.2.1'] });
    expect(less.ipRanges).toEqual(here);
    // The last addresses can only be replaced, since an empty list allows every address.
    expect(await run('removeIpAccessListRanges', payload, { ipRanges: here })).toMatchObject({
      ipRanges: null,
      userErrors: [{ code: 'INVALID_STATE', path: ['input', 'ipRanges'] }],
    });
    expect((await list()).data.enterprise.ipAccessList).toEqual(here);
    expect(await run('replaceIpAccessListRanges', payload, { ipRanges: [] })).toMatchObject({ ipRanges: [] });
  });

  it('is only an error for callers that may not read it, and cannot be changed by them', async () => {
    const token = await tokenWith('ReadAccountMeta');
    const { data, errors } = await list(token);
    expect(data.enterprise).toEqual({ name: 'Switchyard', ipAccessList: null });
    expect(errors?.map((error) => error.extensions.code)).toEqual(['FORBIDDEN']);
    const ipRanges = ['127.0.0.1', '::1'];
    for (const verb of ['add', 'remove', 'replace']) {
      const field = `${verb}IpAccessListRanges`;
      expect(await run(field, payload, { ipRanges }, token)).toMatchObject({ error: 'FORBIDDEN' });
    }
  });

  it('hides the enterprise from callers that may change the list but not read the enterprise', async () => {
    const token = await tokenWith('ManageEnterpriseSettings');
    const emptied = await run('replaceIpAccessListRanges', payload, { ipRanges: [] }, token);
    expect(emptied).toMatchObject({ ipRanges: [], enterprise: null });
  });
});
