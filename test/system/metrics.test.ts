import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { makeManySessions } from '../support/many-sessions.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
let metricsUrl = '';

beforeAll(async () => {
  const noted = (fields: object, message: string) => {
    if (message === 'The metrics are served.') metricsUrl = (fields as { url: string }).url;
  };
  const silent = () => undefined;
  test = await startApp(
    { roles: ['api', 'worker', 'scheduler'], metricsAddress: { host: '127.0.0.1', port: 0 } },
    { log: { debug: silent, info: noted, warn: silent, error: silent } },
  );
});
afterAll(() => test?.close());

/** Returns the samples of a scrape, by name and labels as they are written. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(metricsUrl);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

describe('the metrics of a process', () => {
  it('count what its agents do', async () => {
    const id = await createSession(test, { prompt: 'Write a haiku into haiku.txt' });
    await waitUntilEnded(test, id);
    const samples = await scrape();
    const value = (name: string) => samples.get(`switchyard_${name}`);
    expect(value('session_claims_total')).toBe(1);
    expect(value('agent_starts_total{agent="demo"}')).toBe(1);
    expect(value('agent_start_duration_seconds_count{agent="demo"}')).toBe(1);
    expect(value('turn_duration_seconds_count{agent="demo",stop_reason="end_turn"}')).toBe(1);
    expect(value('log_append_duration_seconds_count')).toBeGreaterThan(0);
    expect(value('model_tokens_total{model="default",type="output"}')).toBeGreaterThanOrEqual(0);
    expect(value('worker_slots')).toBeGreaterThan(0);
    expect(value('session_leases_lost_total')).toBe(0);
    expect(value('metrics_database_errors_total')).toBe(0);
    expect(value('http_request_duration_seconds_count{api="graphql",status="2xx"}')).toBeGreaterThanOrEqual(1);
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });

  it('have as many series with thousands of sessions as with one', async () => {
    const before = await scrape();
    await makeManySessions(test, test.organizationId, 3_000);
    await fetch(`${test.url}/v3/nothing-${Math.random()}`);
    await fetch(`${test.url}/${Math.random()}`);
    await scrape();
    const after = await scrape();
    const mine = (samples: ReadonlyMap<string, number>) =>
      [...samples.keys()].filter((name) => name.startsWith('switchyard_') && !name.includes('http_request'));
    expect(mine(after)).toEqual(mine(before));
  });

  it('follow the naming conventions of Prometheus, and have no ID as a label', async () => {
    const text = await (await fetch(metricsUrl)).text();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({ name, type }));
    expect(types.length).toBeGreaterThan(40);
    for (const { name, type } of types) {
      expect(`${name} ${String(name).endsWith('_total')}`).toBe(`${name} ${type === 'counter'}`);
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(text).toContain(`# HELP ${name} `);
    }
    expect(text).not.toMatch(/[0-9a-f]{32}|org-|user-|session_id=|organization/);
  });

  it('are served at no other path, and not by the API', async () => {
    const base = new URL(metricsUrl).origin;
    expect((await fetch(base)).status).toBe(404);
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${test.url}/metrics`)).status).toBe(404);
  });
});
