import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { callingAgentProfile } from '../support/calling-agent.ts';
import { startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { mutationDocument } from '../support/mutations.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const mutate = async (server: ServerProcess, field: string, selection: string, input: object): Promise<any> => {
  const document = mutationDocument(field, `${selection} userErrors { message }`);
  const { data, errors } = await graphql(server, bootstrapToken, document, { input });
  if (errors || data[field].userErrors.length > 0) throw new Error(JSON.stringify({ errors, data }));
  return data[field];
};

it('counts the call that was in progress when the service was killed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-budget-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const llm = await startFakeLlm({ apiKey: 'sk-c4n4ry' });
  onTestFinished(() => llm.close());
  const env = {
    ...(testDatabase === 'postgres' && { DATABASE_URL: await createDatabase() }),
    SECRET_KEY: 'the same secret key in every process',
    LOG_LEVEL: 'warn',
    DATA_DIR: root,
    AGENTS_CONFIG: await writeProfiles({}, callingAgentProfile('caller')),
    PORT: String(await freePort()),
  };
  const server = await startServer(env);
  const organizationId = await firstOrganizationId(server, bootstrapToken);
  const values = {
    provider: 'COMPATIBLE',
    name: 'Team',
    baseUrl: `${llm.url}/v1`,
    key: 'sk-c4n4ry',
    monthlyBudgetUsd: 500,
  };
  const prices = { inputUsdPerMillion: 1_000, outputUsdPerMillion: 1_000 };
  const input = { ...values, prices, scope: { organizationId } };
  const { providerKey } = await mutate(server, 'createProviderKey', 'providerKey { id }', input);
  const prompt = 'call - do: say ok\ncall - do: hold killed / do: say ok';
  await mutate(server, 'createSession', 'session { sessionId }', { organizationId, agent: 'caller', prompt });
  await llm.waitForHold('killed');
  await server.kill();
  const next = await startServer(env);
  const today = new Date().toISOString().slice(0, 10);
  const query = `query($id: ID!) { node(id: $id) { ... on ProviderKey {
    spentThisMonthUsd usage(from: "${today}", to: "${today}") { calls } } } }`;
  const { data } = await graphql(next, bootstrapToken, query, { id: providerKey.id });
  expect(data.node.usage.calls).toBe(2);
  // The longest answer of a call without a limit.
  expect(data.node.spentThisMonthUsd).toBeGreaterThan(128);
  await next.kill();
}, 240_000);
