import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentPackages } from '../../src/agents/programs/packages.ts';
import { newId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { type NpmRegistry, packageWith, startNpmRegistry } from '../support/npm-registry.ts';
import { makeManager } from '../support/people.ts';
import { testDatabase } from '../support/test-store.ts';

const version = agentPackages.opencode?.version as string;
const long = 'x'.repeat(2_000);

// An agent that only opens sessions, and writes more about itself than anybody wants to read.
const program = `#!/usr/bin/env node
const put = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') put(id, { protocolVersion: 1, agentInfo: { name: ${JSON.stringify(`nul \0 ${long}`)}, version: '9' } });
  if (method === 'session/new') {
    const { command, args } = params.mcpServers[0];
    const server = require('node:child_process').spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
    const clientInfo = { name: 'agent', version: '9' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: hello }) + '\\n');
    put(id, { sessionId: 'one' });
  }
});
`;

let registry: NpmRegistry;
let test: TestApp;
let agentsDir: string;
beforeAll(async () => {
  registry = await startNpmRegistry();
  agentsDir = mkdtempSync(join(tmpdir(), 'switchyard-programs-'));
  const manifest = { name: 'agent', version, bin: { agent: 'bin/it' } };
  const entry = registry.publish({ manifest, files: { 'bin/it': program } });
  test = await startApp(
    {
      roles: ['api', 'worker'],
      agentsConfig: null,
      agentsDir,
      agentBaseEnv: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
      npmEnv: { PATH: process.env.PATH ?? '', HOME: agentsDir, 'npm_config_registry': registry.url },
    },
    {
      packageOf: (agentId) => packageWith(agentId, version, { [agentId === 'opencode' ? 'agent' : 'missing']: entry }),
    },
  );
});
afterAll(async () => {
  await test.close();
  await registry.close();
  rmSync(agentsDir, { recursive: true, force: true });
});

const fields = `agentId name packageName pinnedVersion installedVersion source isOutdated state progressPercent error
  keySource canInstall isChecking lastCheck { isOk report { failure agentName agentVersion mcp { state } load { state } } }
  hosts { hostName state installedVersion }`;

async function programs(of = test): Promise<Record<string, any>> {
  const { data } = await graphql(of, test.adminToken, `{ enterprise { agentPrograms { ${fields} } } }`);
  return Object.fromEntries(data.enterprise.agentPrograms.map((each: any) => [each.agentId, each]));
}

const act = async (name: string, agentId: string, token = test.adminToken) => {
  const document = `mutation($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
    ${name}(input: $input) { agentProgram { state isChecking } enterprise { agentPrograms { agentId } } userErrors { code message path } } }`;
  const { data, errors } = await graphql(test, token, document, { input: { agentId } });
  return data?.[name] ?? errors;
};

const settled = (agentId: string) =>
  expect
    .poll(
      async () => {
        const { state, isChecking } = (await programs())[agentId];
        return isChecking ? 'CHECKING' : state;
      },
      { timeout: 60_000, interval: 100 },
    )
    .not.toMatch(/ING$/);

const agents = async (of = test) =>
  (await graphql(of, test.adminToken, '{ agents { agentId isDefault steer programVersion keySource } }')).data.agents;

it('lists what can be installed, in the order in which a default agent is chosen', async () => {
  const found = await programs();
  expect(Object.keys(found)).toEqual(['claude', 'codex', 'gemini', 'opencode', 'qwen', 'cline']);
  expect(found.opencode).toMatchObject({
    packageName: 'opencode-ai',
    pinnedVersion: version,
    installedVersion: null,
    source: null,
    state: 'NOT_INSTALLED',
    canInstall: true,
    lastCheck: null,
    hosts: [{ state: 'NOT_INSTALLED', installedVersion: null }],
  });
  expect(await agents()).toEqual([
    { agentId: 'demo', isDefault: true, steer: 'WAIT', programVersion: null, keySource: 'NOT_NEEDED' },
  ]);
  expect((await act('checkAgent', 'opencode')).userErrors).toMatchObject([
    { code: 'INVALID_STATE', message: 'The program of opencode is not installed.' },
  ]);
});

it('installs an agent, which is available at once in every process, and records it', async () => {
  expect(await act('installAgent', 'opencode')).toMatchObject({
    agentProgram: { state: 'INSTALLING' },
    userErrors: [],
  });
  expect((await act('removeAgent', 'opencode')).userErrors[0]?.code).toBe('INVALID_STATE');
  await settled('opencode');
  expect((await programs()).opencode).toMatchObject({
    state: 'INSTALLED',
    installedVersion: version,
    source: 'AGENTS_DIRECTORY',
    isOutdated: false,
    progressPercent: null,
    error: null,
    keySource: 'NONE',
  });
  const opencode = { agentId: 'opencode', isDefault: false, steer: 'WAIT', programVersion: version, keySource: 'NONE' };
  await expect.poll(() => agents()).toContainEqual(opencode);
  const rows = await test.app.services.store.query<{ data: object }>(
    `select data from audit_entry where data->>'setting' = 'agentPrograms'`,
  );
  expect(rows.map(({ data }) => data)).toEqual([
    { setting: 'agentPrograms', act: 'install', agent: 'opencode', hosts: 1 },
  ]);
  if (testDatabase !== 'postgres') return;
  const api = await test.another({ roles: ['api'], agentsConfig: null, agentBaseEnv: { PATH: '/nowhere' } });
  try {
    expect(await agents(api)).toContainEqual(opencode);
    expect((await programs(api)).opencode.hosts).toHaveLength(1);
  } finally {
    await api.app.stop();
  }
});

it('checks an agent, and stores a short report', async () => {
  expect((await act('checkAgent', 'opencode')).agentProgram).toEqual({ state: 'INSTALLED', isChecking: true });
  await settled('opencode');
  const { lastCheck } = (await programs()).opencode;
  expect(lastCheck).toMatchObject({
    isOk: true,
    report: { failure: null, agentVersion: '9', load: { state: 'NOT_OFFERED' } },
  });
  expect(lastCheck.report.agentName).toMatch(/^nul {2}x+$/);
  expect(lastCheck.report.agentName).toHaveLength(500);
});

it('reports why an installation failed', async () => {
  await act('installAgent', 'gemini');
  await settled('gemini');
  expect((await programs()).gemini).toMatchObject({
    state: 'FAILED',
    installedVersion: null,
    error: expect.stringMatching(/^The registry does not have the pinned version of a package\./),
  });
});

it('uses a key of the organization or the user for sessions that name no agent', async () => {
  const { services } = test.app;
  const { organizationId, adminToken } = test;
  const start = async () => {
    const { data } = await graphql(
      test,
      adminToken,
      'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { agent } userErrors { message } } }',
      { input: { organizationId: `org-${organizationId}`, prompt: 'say hello' } },
    );
    return data.createSession.session.agent;
  };
  const source = async () => {
    const query = 'query($id: ID!) { agents { agentId keySource(organizationId: $id) } }';
    const { data } = await graphql(test, adminToken, query, { id: `org-${organizationId}` });
    return data.agents.find((each: any) => each.agentId === 'opencode').keySource;
  };
  expect([await start(), await source()]).toEqual(['demo', 'NONE']);
  const id = newId();
  await services.store.execute(
    `insert into provider_key (id, enterprise_id, organization_id, provider, name, is_enabled, version, created_at, updated_at)
     values ($1, $2, $3, 'openai', 'Team', true, 1, now(), now())`,
    [id, test.app.installation.enterpriseId, organizationId],
  );
  expect([await start(), await source()]).toEqual(['opencode', 'ORGANIZATION']);
  expect((await agents()).find((each: any) => each.isDefault).agentId).toBe('demo');
  await services.store.execute('delete from provider_key where id = $1', [id]);
  expect(await start()).toBe('demo');
});

it('refuses unknown agents, and viewers who may not manage the settings', async () => {
  for (const agentId of ['../opencode', '__proto__', 'demo']) {
    expect((await act('installAgent', agentId)).userErrors).toMatchObject([
      { code: 'INVALID_INPUT', path: ['input', 'agentId'] },
    ]);
  }
  const { token } = await makeManager(test, 'MANAGE_ORGANIZATIONS');
  for (const name of ['installAgent', 'removeAgent', 'checkAgent']) {
    expect(JSON.stringify(await act(name, 'opencode', token))).toContain('FORBIDDEN');
  }
});

it('removes an agent', async () => {
  // It may be removed already.
  expect(['REMOVING', 'NOT_INSTALLED']).toContain((await act('removeAgent', 'opencode')).agentProgram.state);
  await settled('opencode');
  expect((await programs()).opencode).toMatchObject({
    ...{ state: 'NOT_INSTALLED', installedVersion: null },
    // It was about the program that was removed.
    lastCheck: null,
  });
  // Processes look for programs after they are notified.
  await expect.poll(async () => (await agents()).map((each: any) => each.agentId)).toEqual(['demo']);
  expect((await act('removeAgent', 'opencode')).userErrors[0]?.message).toBe(
    'The program of opencode is not installed.',
  );
});
