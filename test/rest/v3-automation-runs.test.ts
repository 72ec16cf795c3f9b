import { expect, it } from 'vitest';
import { call } from '../support/app.ts';
import { makeAutomatic } from '../support/automations.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const body = { name: 'Sweep', triggers: [], actions: [{ type: 'start_session', prompt: 'Sweep the floor.' }] };

async function make(more: Record<string, unknown> = {}) {
  const { organizationId, token } = await makeAutomatic(test);
  const path = `/v3/organizations/${organizationId}/automations`;
  const made = await call(test, token, 'POST', path, { ...body, ...more });
  expect(made.status).toBe(200);
  return { organizationId, token, path: `${path}/${made.body.automation_id}`, automationId: made.body.automation_id };
}

it('POST …/run starts a session at once, and GET …/runs shows the run', async () => {
  const { organizationId, token, path, automationId } = await make();
  const { status, body: run } = await call(test, token, 'POST', `${path}/run`);
  expect(status).toBe(200);
  expect(run).toEqual({
    run_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    automation_id: automationId,
    status: 'started',
    event_type: 'manual',
    session_id: expect.any(String),
    error: null,
    attempts: 1,
    scheduled_for: null,
    created_at: expect.any(Number),
    started_at: expect.any(Number),
  });
  const session = await call(test, token, 'GET', `/v3/organizations/${organizationId}/sessions/${run.session_id}`);
  expect(session.body).toMatchObject({ session_id: run.session_id, status: 'new', origin: 'automation' });
  const runs = await call(test, token, 'GET', `${path}/runs`);
  expect(runs.body).toMatchObject({ items: [run], has_next_page: false });
});

it('GET …/runs returns pages, newest first, with skipped runs and their reasons', async () => {
  const { token, path } = await make({ limits: { invocations: { max_per_window: 2, window_seconds: 3_600 } } });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await call(test, token, 'POST', `${path}/run`)).body.run_id);
  const first = await call(test, token, 'GET', `${path}/runs?first=2`);
  expect(first.body).toMatchObject({
    items: [
      { run_id: ids[0], status: 'skipped', session_id: null, error: { code: 'LIMIT_EXCEEDED' }, started_at: null },
      { run_id: ids[1], status: 'started' },
    ],
    has_next_page: true,
  });
  const rest = await call(test, token, 'GET', `${path}/runs?first=2&after=${first.body.end_cursor}`);
  expect(rest.body).toMatchObject({ items: [{ run_id: ids[2] }], has_next_page: false });
  expect((await call(test, token, 'GET', `${path}/runs?first=101`)).status).toBe(422);
});

it('POST …/run starts one run for an idempotency key', async () => {
  const { token, path } = await make();
  const again = () => call(test, token, 'POST', `${path}/run`, undefined, { 'idempotency-key': 'once' });
  const [one, two] = [await again(), await again()];
  expect(two.body).toEqual(one.body);
  expect((await call(test, token, 'GET', `${path}/runs`)).body.items).toHaveLength(1);
});

it('answers 404 to another organization for both', async () => {
  const { path } = await make();
  const { token } = await makeAutomatic(test);
  expect((await call(test, token, 'POST', `${path}/run`)).status).toBe(403);
  expect((await call(test, token, 'GET', `${path}/runs`)).status).toBe(403);
});
