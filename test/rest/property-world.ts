import { type IdKind, newId, prefixedId } from '../../src/domain/ids.ts';
import { makeFolders } from '../support/knowledge.ts';
import { runMutation } from '../support/people.ts';
import { uploadTo } from '../support/uploads.ts';
import { asAdministrator, call, makeServiceUser, makeUser, startApp, type TestApp } from './rest-app.ts';

/** An organization with one object of every kind. */
export interface PropertyWorld {
  readonly test: TestApp;
  /** By kind: unprefixed ids or names. */
  readonly resourceIds: Readonly<Record<string, string>>;
  /** Creates one more object of a kind, for requests that may delete it; returns its unprefixed id. */
  make(kind: string): Promise<string>;
}

const bare = (id: string) => id.replace(/^.*[-_]/, '');

/** Starts an app with such an organization, in which the administrator and the first user send requests. */
export async function startPropertyWorld(): Promise<PropertyWorld> {
  const test = await startApp();
  const { organizationId } = test;
  const { store } = test.app.services;
  // An older organization, which may still create schedules.
  await store.execute('update organization set has_automations = false where id = $1', [organizationId]);
  const makers = makersOf(test);
  const elsewhere = await makers.organization();
  const file = await uploadTo(test, organizationId, { name: 'walk.txt', content: 'hello' });
  const resourceIds: Record<string, string> = {
    folder: await makeFolders(await asAdministrator(test), { organizationId }, 'Backend'),
    attachment: bare(file.attachment_id),
    attachmentUrl: file.url,
    name: file.name,
  };
  const world = {
    test,
    things: resourceIds,
    async make(kind: string) {
      if (kind === 'outsider') return (await makeUser(test, elsewhere)).userId;
      if (kind === 'apiKey') return makeKey(test, resourceIds.serviceUser ?? '');
      // An earlier request may have set a limit under which no session can start.
      if (kind === 'session')
        await store.execute('update organization set max_session_acu_limit = null where id = $1', [organizationId]);
      if (kind === 'gitPermission') return makePermission(test, resourceIds.gitConnection ?? '');
      return (await makers[kind as keyof typeof makers]?.()) ?? kind;
    },
  };
  for (const kind of [...Object.keys(makers), 'apiKey', 'gitPermission', 'outsider'])
    resourceIds[kind] = await world.make(kind);
  return { ...world, resourceIds: { ...resourceIds, organization: organizationId } };
}

async function post(test: TestApp, path: string, body: unknown, field: string): Promise<string> {
  const made = await call(test, test.adminToken, 'POST', path, body);
  if (made.status >= 300) throw new Error(`POST ${path} was answered with ${JSON.stringify(made.body)}.`);
  return bare(made.body[field]);
}

const makeKey = (test: TestApp, serviceUserId: string) =>
  post(test, `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`, { name: 'key' }, 'api_key_id');

/** Allows the organization to use one more repository. */
async function makePermission(test: TestApp, gitConnectionId: string): Promise<string> {
  const path = `/v3/enterprise/organizations/${test.organizationId}/git-providers/permissions`;
  const permissions = [{ git_connection_id: gitConnectionId, repo_path: `owner/${newId()}` }];
  const made = await call(test, test.adminToken, 'POST', path, { permissions });
  return bare(made.body[0].git_permission_id);
}

function makersOf(test: TestApp) {
  const inside = `/v3/organizations/${test.organizationId}`;
  const make = (path: string, body: unknown, field: string) => post(test, path, body, field);
  const robot = async (input: { organizationId?: string; roleId: string }) =>
    (await makeServiceUser(test, input)).serviceUserId;
  return {
    organization: () => make('/v3/enterprise/organizations', { name: 'Another' }, 'org_id'),
    session: () => make(`${inside}/sessions`, { prompt: 'say hello' }, 'session_id'),
    note: () => make(`${inside}/knowledge/notes`, note, 'note_id'),
    enterpriseNote: () => make('/v3/enterprise/knowledge/notes', note, 'note_id'),
    playbook: () => make(`${inside}/playbooks`, playbook, 'playbook_id'),
    enterprisePlaybook: () => make('/v3/enterprise/playbooks', playbook, 'playbook_id'),
    secret: () => make(`${inside}/secrets`, { ...secret, key: `K${newId()}` }, 'secret_id'),
    automation: () => make(`${inside}/automations`, automation, 'automation_id'),
    schedule: () => make(`${inside}/schedules`, schedule, 'scheduled_session_id'),
    user: async () => (await makeUser(test, test.organizationId)).userId,
    enterpriseUser: async () => {
      const emails = [`${newId()}@example.test`];
      const path = '/v3/enterprise/members/users';
      const made = await call(test, test.adminToken, 'POST', path, { emails, enterprise_role_id: 'account_member' });
      return bare(made.body[0].user_id);
    },
    tag: async () => {
      const path = `/v3/enterprise/organizations/${test.organizationId}/tags`;
      const tag = `tag ${newId()}`;
      await call(test, test.adminToken, 'POST', path, { tags: ['walk', tag] });
      return tag;
    },
    gitConnection: async () => {
      // No request reaches a forge: no server is there.
      const access = { providerType: 'GITEA_TOKEN', host: 'https://127.0.0.1:1', token: 'c4n4ry-token' };
      const input = { ...access, name: newId() };
      const made = await runMutation(test, 'createGitConnection', 'gitConnection { gitConnectionId }', input);
      const { gitConnectionId } = made.gitConnection;
      const path = `/v3/enterprise/organizations/${test.organizationId}/git-providers/permissions`;
      const permissions = [{ git_connection_id: gitConnectionId, repo_path: 'owner/repo' }];
      await call(test, test.adminToken, 'POST', path, { permissions });
      return bare(gitConnectionId);
    },
    serviceUser: () => robot({ organizationId: test.organizationId, roleId: 'org_member' }),
    enterpriseServiceUser: () => robot({ roleId: 'account_member' }),
  };
}

const note = { name: 'Note', trigger: 'When', body: 'Body' };
const playbook = { title: 'Playbook', body: 'Body' };
const secret = { type: 'key-value', value: 'c4n4ry-value' };
const automation = {
  name: 'Automation',
  triggers: [
    {
      event_type: 'github:push',
      conditions: { any: [{ all: [{ field: 'branch', operator: 'eq', value: 'main' }] }] },
      replies: [],
    },
  ],
  actions: [{ type: 'start_session', prompt: 'Sweep', session: { tags: ['walk'], repos: ['owner/repo'] } }],
  run_as: { type: 'organization' },
  enabled: false,
  limits: { max_acu_limit: 5, invocations: { max_per_window: 1, window_seconds: 3_600 } },
  concurrency: { max_concurrent_runs: 1, max_queue_depth: 1 },
  metadata: { team: 'tools' },
  notifications: { email: { when: 'dispatch_failed', recipients: [] } },
  session_settings: { devin_mode: 'normal', net_policy: { allow: [{ hostname: 'example.com' }] } },
  security_profile: null,
  template_id: null,
  tools: { mcp_servers: [], slack_channels: [], slack_dm_scope: null, linear_enabled: false },
};
const schedule = { name: 'Schedule', prompt: 'Sweep', frequency: '0 9 * * *', schedule_type: 'recurring' };

let count = 0;

/**
 * A valid body for a route, with all optional members; unique names are new each time. `properties`: the members of the body with
 * their schemas, from which the values of numbers and booleans are taken that are not listed here.
 */
export function goodBody(
  world: PropertyWorld,
  route: string,
  properties: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { resourceIds } = world;
  count += 1;
  const wire = (kind: IdKind, id = resourceIds[kind]) => prefixedId(kind, id ?? '');
  const isEnterprise = route.includes('/enterprise/') && !route.includes('{org_id}');
  const known: Record<string, unknown> = {
    name: `Name ${count}`,
    display_name: `Name ${count}`,
    title: 'Title',
    prompt: 'say hello',
    message: 'Hello',
    body: 'Body',
    trigger: 'When',
    trigger_description: 'When',
    note: 'Note',
    macro: `!macro-${count}`,
    tags: ['walk'],
    tag: 'walk',
    type: 'key-value',
    key: `KEY_${count}`,
    value: 'c4n4ry-value',
    sensitive: true,
    is_sensitive: true,
    is_enabled: true,
    enabled: true,
    unlisted: false,
    idempotent: false,
    snapshot_id: 'snapshot',
    max_acu_limit: 5,
    acu_limit: 5,
    cycle_acu_limit: 5,
    max_cycle_acu_limit: 5,
    max_session_acu_limit: 5,
    add_creator_as_member: false,
    pinned_repo: 'owner/repo',
    folder_id: isEnterprise ? null : wire('folder'),
    parent_folder_id: wire('folder'),
    playbook_id: wire('playbook'),
    knowledge_ids: [wire('note')],
    secret_ids: [wire('secret')],
    session_secrets: [{ key: 'TOKEN', value: 'c4n4ry-value', sensitive: true }],
    attachment_urls: [resourceIds.attachmentUrl],
    structured_output_schema: { type: 'object' },
    create_as_user_id: wire('user'),
    message_as_user_id: wire('user'),
    run_as_user_id: wire('user'),
    emails: [`property${count}@example.test`],
    role_id: isEnterprise ? 'account_member' : 'org_member',
    enterprise_role_id: 'account_member',
    ttl_seconds: 3_600,
    expires_at: null,
    new_key_expires_at: null,
    revoke_current: false,
    ip_ranges: ['0.0.0.0/0', '::/0'],
    idp_group_names: ['group'],
    permissions: [{ git_connection_id: wire('gitConnection'), repo_path: `owner/repo-${count}` }],
    repos: ['owner/repo'],
    read_only: true,
    groups: {},
    pr_url: 'https://github.com/owner/repo/pull/1',
    agent: 'devin',
    bypass_approval: false,
    frequency: '0 9 * * *',
    interval_count: 1,
    notify_on: 'never',
    platform: null,
    schedule_type: 'recurring',
    scheduled_at: null,
    slack_channel_id: null,
    slack_team_id: null,
    target_devin_id: null,
    ...(route.includes('/automations') ? automation : {}),
  };

  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const value = field in known ? known[field] : valueOfSchema(schema as ScalarSchema);
      if (value === undefined) throw new Error(`Say in goodBody what "${field}" of ${route} is.`);
      return [field, value];
    }),
  );
}

interface ScalarSchema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
}

function valueOfSchema({ type, minimum = 0 }: ScalarSchema): number | boolean | undefined {
  const types = [type ?? []].flat();
  if (types.includes('boolean')) return false;
  return types.includes('integer') || types.includes('number') ? minimum : undefined;
}
