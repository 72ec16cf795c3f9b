import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager } from '../support/people.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ roles: ['api', 'worker'] });
const fields = 'workerId hostName activeSessionCount isDraining isAlive';

const workers = async (): Promise<any[]> =>
  (await graphql(test, test.adminToken, `{ enterprise { workers { ${fields} } } }`)).data.enterprise.workers;
const act = async (name: 'drainWorker' | 'undrainWorker', workerId: string, token = test.adminToken) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const document = `mutation($input: ${type}!) { ${name}(input: $input) { worker { ${fields} } userErrors { code } } }`;
  const { data, errors } = await graphql(test, token, document, { input: { workerId } });
  return data?.[name] ?? errors;
};
const statusOf = async (id: string) =>
  (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { status } }', { id })).data.session.status;

it('lists the workers, drains one, which claims nothing, and lets it work again', async () => {
  const [worker] = await workers();
  expect(worker).toMatchObject({ activeSessionCount: 0, isDraining: false, isAlive: true });
  const { workerId } = worker;
  const warm = await createFirstSession(test, test.adminToken, 'say done');
  await waitUntilEnded(test, warm);
  expect((await workers())[0]).toMatchObject({ activeSessionCount: 1 });
  expect(await act('drainWorker', workerId)).toMatchObject({ worker: { workerId, isDraining: true }, userErrors: [] });
  await expect.poll(async () => (await workers())[0]?.activeSessionCount, { interval: 20 }).toBe(0);
  const waiting = await createFirstSession(test, test.adminToken, 'say done');
  // A claim would have come before the answers to these requests.
  expect(await act('drainWorker', workerId)).toMatchObject({ worker: { isDraining: true }, userErrors: [] });
  expect(await statusOf(waiting)).toBe('NEW');
  expect(await act('undrainWorker', workerId)).toMatchObject({ worker: { isDraining: false } });
  await waitUntilEnded(test, waiting);
  const rows = await test.app.services.store.query<{ data: object }>(
    `select data from audit_entry where data->>'setting' = 'workers' order by created_at, id`,
  );
  expect(rows.map(({ data }) => data)).toEqual([
    { setting: 'workers', act: 'drain', worker: workerId, host: worker.hostName },
    { setting: 'workers', act: 'undrain', worker: workerId, host: worker.hostName },
  ]);
});

it('refuses unknown workers, and viewers who may not manage the settings', async () => {
  expect(JSON.stringify(await act('drainWorker', 'f'.repeat(16)))).toContain('NOT_FOUND');
  const { token } = await makeManager(test, 'MANAGE_ORGANIZATIONS');
  const [worker] = await workers();
  expect(JSON.stringify(await act('drainWorker', worker.workerId, token))).toContain('FORBIDDEN');
  expect((await graphql(test, token, '{ enterprise { workers { workerId } } }')).data).toEqual({ enterprise: null });
});
