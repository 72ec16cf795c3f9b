import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openSession } from '../../src/store/postgres-session.ts';
import { call, graphql } from '../support/app.ts';
import { BalancedService } from '../support/balanced-service.ts';
import { openStream } from '../support/event-stream.ts';
import { makeNewerVersion } from '../support/newer-version.ts';
import { bootstrapToken, freePort } from '../support/server.ts';
import { makeDirectory, makeServerEnv } from '../support/server-env.ts';
import { createFirstSession, firstOrganizationId } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

/** TEST_LOAD=full takes some minutes, and needs 4 GB of memory for the agents. */
const { swaps, sessions, subscribers, lines } =
  process.env.TEST_LOAD === 'full'
    ? { swaps: 10, sessions: 40, subscribers: 200, lines: 60 }
    : { swaps: 3, sessions: 4, subscribers: 20, lines: 12 };

/** Between the requests of each client. */
const pauseMs = 50;

const subscription =
  'subscription($id: ID!, $after: String) { sessionEvents(sessionId: $id, after: $after) { cursor node { seq } } }';

it.skipIf(testDatabase !== 'postgres')(
  'loses, repeats and refuses nothing while old and new versions replace each other',
  { timeout: 900_000 },
  async () => {
    const newer = await makeNewerVersion({
      '29990101000000_expand': 'alter table session add column later text default $$x$$;',
    });
    const shared: Record<string, string> = {
      ...(await makeServerEnv()),
      ATTACHMENTS_DIR: makeDirectory(),
      LOG_LEVEL: 'error',
      MAX_CONCURRENT_SESSIONS: String(sessions),
      MAX_SOCKETS: String(subscribers * 2),
      RATE_LIMIT_GRAPHQL: '0',
      RATE_LIMIT_REST: '0',
    };
    const envOf = async () => ({ ...shared, PORT: String(await freePort()), DATA_DIR: makeDirectory() });
    const service = await BalancedService.start([await envOf(), await envOf()]);
    const organizationId = await firstOrganizationId({ url: await service.url() }, bootstrapToken);
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });

    const failures: string[] = [];
    let requests = 0;
    const load = async (method: string, path: string, body?: object) => {
      while (!isOver) {
        const url = await service.url();
        await wait(pauseMs);
        const answer = await call({ url }, bootstrapToken, method, path, body).catch((error: unknown) => error);
        requests += 1;
        if (!(answer instanceof Object && 'status' in answer && answer.status === 200)) {
          failures.push(`${method} ${path}: ${JSON.stringify(answer)} ${String(answer)}`);
        }
      }
    };

    const all = Array.from({ length: lines }, (_, n) => `line ${n}.`);
    const prompt = all.map((line) => `say ${line}\nsleep 1`).join('\n');
    const ids = await Promise.all(
      Array.from({ length: sessions }, async () =>
        createFirstSession({ url: await service.url() }, bootstrapToken, prompt),
      ),
    );
    const received = new Map<number, number[]>();
    let connections = 0;
    const read = async (n: number) => {
      const id = ids[n % sessions] as string;
      const seqs: number[] = [];
      received.set(n, seqs);
      let after: string | undefined;
      while (!isOver) {
        connections += 1;
        try {
          const variables = { id, after };
          const url = await service.url();
          const stream =
            n % 4 === 0
              ? await openStream(url, bootstrapToken, subscription, variables)
              : follow(connect(url, bootstrapToken), subscription, variables);
          for (;;) {
            const [payload] = await stream.take(1);
            after = payload.data.sessionEvents.cursor;
            seqs.push(payload.data.sessionEvents.node.seq);
          }
        } catch {
          // The process stops. The reader continues at another one.
        }
      }
    };
    const reading = Array.from({ length: subscribers }, (_, n) => read(n));
    const v3 = `/v3/organizations/${organizationId}/sessions`;
    const loading = [
      load('GET', `${v3}?first=20`),
      load('GET', `${v3}/${ids[0]}`),
      load('GET', `${v3}/${ids[0]}/messages?first=50`),
      load('POST', '/graphql', {
        query: '{ organizations(first: 5) { nodes { sessions(first: 5) { nodes { title } } } } }',
      }),
    ];

    for (let n = 0; n < swaps; n += 1) {
      // Each process becomes the newer version, and then the older one again.
      expect(await service.replace(n % 2, n % 4 < 2 ? newer : undefined)).toBe(0);
    }
    const logs = new Map<string, number[]>();
    for (const id of ids) {
      const statusOf = async () => {
        const query = `{ session(id: "${id}") { status } }`;
        return (await graphql({ url: await service.url() }, bootstrapToken, query)).data.session.status;
      };
      await expect.poll(statusOf, { timeout: 300_000 }).toBe('EXIT');
      const entries = await openSession(shared.DATABASE_URL as string, (session) =>
        session.query<{ seq: number; body: string | null }>(
          'select seq, body from log_entry where session_id = $1 order by seq',
          [id.replace('devin-', '')],
        ),
      );
      logs.set(
        id,
        entries.map(({ seq }) => seq),
      );
      // A turn that a stop interrupted is repeated, even if its last line was written. The last attempt is complete.
      const written = entries.flatMap(({ body }) => (body !== null && all.includes(body) ? [body] : []));
      expect(written.slice(written.lastIndexOf('line 0.')), id).toEqual(all);
    }
    for (const [n, seqs] of received) {
      const expected = logs.get(ids[n % sessions] as string);
      await expect.poll(() => seqs.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(expected?.length ?? 0);
      expect(seqs, `subscriber ${n}`).toEqual(expected);
    }
    isOver = true;
    await Promise.all(loading);
    expect(failures).toEqual([]);
    process.stderr.write(
      `Rolling upgrade: ${JSON.stringify({ swaps, sessions, subscribers, connections, requests })}\n`,
    );
    expect(connections).toBeGreaterThan(subscribers);
    expect(await service.stop()).toEqual([0, 0]);
    await Promise.all(reading);
  },
);
