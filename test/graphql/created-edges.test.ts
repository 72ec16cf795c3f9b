import { isObjectType } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { graphql } from '../support/app.ts';
import { recurring, startSession } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { scopeOf } from '../support/principals.ts';
import { sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let sessionId: string;
beforeAll(async () => {
  const { token, ...organization } = await makeOrganization(test, 'Edges');
  ({ organizationId } = organization);
  ({ sessionId } = await sessionWithCheckpoint(test, token));
});

it('every creation of a listed object returns its edge', () => {
  const missing = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, type }) => {
    const resource = name.replace(/^create/, '');
    if (resource === name || !schema.getType(`${resource}Connection`)) return [];
    const payload = schema.getType(String(type));
    const member = `${resource[0]?.toLowerCase()}${resource.slice(1)}`;
    const fields = isObjectType(payload) ? payload.getFields() : {};
    expect(String(fields[member]?.type), name).toBe(resource);
    return String(fields[`${member}Edge`]?.type) === `${resource}Edge` ? [] : [name];
  });
  expect(missing).toEqual([]);
});

const scope = () => ({ organizationId });
const scoped = () => ({ scope: scopeOf(organizationId) });

/** Created objects by field, with their lists and the missing members of an input. */
const created: [field: string, list: string, input: (n: number) => object][] = [
  [
    'apiKey',
    'organization.apiKeys',
    (n) => ({ name: `k${n}`, kind: { service: { ...scoped(), roleId: 'org_member' } } }),
  ],
  [
    'automation',
    'organization.automations',
    (n) => ({ ...scope(), name: `a${n}`, triggers: [recurring('FREQ=DAILY')], actions: [startSession] }),
  ],
  ['knowledgeFolder', 'organization.knowledgeFolders', (n) => ({ ...scoped(), name: `f${n}` })],
  ['knowledgeNote', 'organization.knowledgeNotes', (n) => ({ ...scoped(), name: `n${n}`, body: 'b', trigger: 't' })],
  ['organization', 'enterprise.organizations', (n) => ({ name: `o${n}` })],
  ['playbook', 'organization.playbooks', (n) => ({ ...scoped(), title: `p${n}`, body: 'b' })],
  ['role', 'enterprise.roles', (n) => ({ name: `r${n}`, scope: 'ORGANIZATION', permissions: ['VIEW_ORG_SESSIONS'] })],
  ['secret', 'organization.secrets', (n) => ({ ...scope(), key: `K${n}`, type: 'KEY_VALUE', value: 'c4n4ry' })],
  ['serviceUser', 'organization.serviceUsers', (n) => ({ ...scoped(), name: `s${n}`, roleId: 'org_member' })],
  ['snapshot', 'organization.snapshots', (n) => ({ sessionId, name: `s${n}` })],
  ['session', 'organization.sessions', (n) => ({ ...scope(), prompt: `p${n}` })],
  ['user', 'enterprise.users', (n) => ({ ...scoped(), email: `e${n}@edges.test`, roleId: 'org_member' })],
  [
    'webhookEndpoint',
    'organization.webhookEndpoints',
    (n) => ({ ...scope(), url: `https://example.com/${n}`, eventTypes: ['SESSION_MESSAGE'] }),
  ],
];

it.each(created)('returns the edge of a %s as %s lists it', async (field, path, input) => {
  const [owner, list] = path.split('.') as [string, string];
  const create = (n: number) =>
    runMutation(
      test,
      `create${field[0]?.toUpperCase()}${field.slice(1)}`,
      `${field} { id } ${field}Edge { cursor node { id } }`,
      input(n) as Record<string, unknown>,
    );
  const before = await create(1);
  const made = await create(2);
  const edge = made[`${field}Edge`];
  expect(edge).toEqual({ cursor: expect.any(String), node: made[field] });
  const read = async (page: string) => {
    const at = owner === 'organization' ? 'organization(id: $id)' : 'enterprise';
    const { data, errors } = await graphql(
      test,
      test.adminToken,
      `query($id: ID!) { ${at} { ${list}(first: 1 ${page}) { edges { cursor node { id } } } } organization(id: $id) { id } }`,
      { id: organizationId },
    );
    expect(errors).toBeUndefined();
    return data[owner][list].edges;
  };
  expect(await read('')).toEqual([edge]);
  // Objects created before it come after it.
  expect(await read(`after: "${edge.cursor}"`)).toEqual([before[`${field}Edge`]]);
});

it('returns no edge with user errors', async () => {
  const input = { scope: scopeOf(organizationId), title: '', body: 'b' };
  const payload = await runMutation(test, 'createPlaybook', 'playbook { id } playbookEdge { cursor }', input);
  expect(payload).toMatchObject({ playbook: null, playbookEdge: null, userErrors: [{ code: 'INVALID_INPUT' }] });
});
