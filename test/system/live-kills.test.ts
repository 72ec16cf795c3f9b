import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { endTurn, LiveView, scriptedProfile, sessionLive, showUntil } from '../support/live.ts';
import { writeProfiles } from '../support/profiles.ts';
import type { Script } from '../support/scripted-agent.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const sessions = 3;
const clientsEach = 4;
const messages = 60;

/** Short messages one after the other, each in parts that are not far apart. */
const steps = Array.from({ length: messages }, (_, n): Script[string] =>
  Array.from({ length: 8 }, (_each, part): Script[string] => {
    const content = { type: 'text', text: `part ${part} of ${n}, ` };
    const kind = n % 4 === 3 ? 'agent_thought_chunk' : 'agent_message_chunk';
    return [{ write: [{ update: { sessionUpdate: kind, messageId: `m${n}`, content } }] }, { sleepMs: 40 }];
  }).flat(),
).flat();

const isOver = ({ entries }: LiveView) => entries.some(({ phase }) => phase === 'STOPPED');

/** Reads a session from its last cursor with ever new connections, to whichever server answers. */
async function read(id: string, n: number, urls: readonly string[]): Promise<{ view: LiveView; connections: number }> {
  const view = new LiveView();
  let connections = 0;
  while (!isOver(view)) {
    connections += 1;
    const url = urls[(n + connections) % urls.length] as string;
    const variables = { id, after: view.after };
    let left = 1 + ((n * 7 + connections * 5) % 4);
    try {
      if ((n + connections) % 3 === 0) {
        const stream = await openStream(url, bootstrapToken, sessionLive, variables);
        await showUntil(view, stream, () => isOver(view) || left-- === 0);
        stream.abort();
      } else {
        const client = connect(url, bootstrapToken);
        await showUntil(view, follow(client, sessionLive, variables), () => isOver(view) || left-- === 0);
        client.terminate();
      }
    } catch (error) {
      // Other errors come from a server that was killed.
      if (error instanceof Error && error.message.startsWith('A gap')) throw error;
      await wait(30);
    }
    view.reconnect();
  }
  return { view, connections };
}

// PGlite always runs in one process.
describe.skipIf(testDatabase !== 'postgres')('live sessions whose servers are killed', () => {
  it('send every entry once and in order, and only drafts that its entry continues', { timeout: 180_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-live-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const talker = scriptedProfile(
      'talker',
      { 'session/prompt': [...steps, endTurn] },
      { retry_delays_ms: [100, 100] },
    );
    const shared = {
      DATABASE_URL: await createDatabase(),
      SECRET_KEY: 'the same secret key in every process',
      AGENTS_CONFIG: await writeProfiles({}, talker),
      LOG_LEVEL: 'error',
      RATE_LIMIT_GRAPHQL: '0',
      MAX_SOCKETS: '1000',
    };
    const envOf = async (name: string, roles: string) => ({
      ...shared,
      ROLES: roles,
      DATA_DIR: join(root, name),
      PORT: String(await freePort()),
    });
    const envs = [await envOf('one', 'api'), await envOf('two', 'api')];
    const workerEnv = { ...(await envOf('worker', 'worker')), LEASE_MS: '2000' };
    const servers: ServerProcess[] = [];
    for (const env of envs) servers.push(await startServer(env));
    let worker = await startServer(workerEnv);
    const urls = servers.map(({ url }) => url);
    const [first] = servers as [ServerProcess];
    const organizationId = await firstOrganizationId(first, bootstrapToken);
    const create = async () => {
      const { data } = await graphql(
        first,
        bootstrapToken,
        'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }',
        { input: { organizationId, prompt: 'go', agent: 'talker' } },
      );
      return data.createSession.session.sessionId as string;
    };
    const ids = await Promise.all(Array.from({ length: sessions }, create));
    let isReading = true;
    const killing = (async () => {
      for (let n = 0; isReading; n++) {
        await wait(900);
        if (!isReading) return;
        if (n === 3) {
          await worker.kill();
          worker = await startServer(workerEnv);
        }
        const which = n % 2;
        await servers[which]?.kill();
        servers[which] = await startServer(envs[which] as (typeof envs)[0]);
      }
    })();
    const readers = await Promise.all(
      ids.flatMap((id, session) => Array.from({ length: clientsEach }, (_, n) => read(id, session * 5 + n, urls))),
    );
    isReading = false;
    await killing;
    for (const { view } of readers) {
      view.requireConsistent();
      expect(view.entries[0].seq).toBe(1);
      const bodies = view.entries.filter(({ draftId }) => draftId).map(({ body }) => body as string);
      for (const body of bodies) expect(body).toMatch(/^(?:part \d of \d+, )+$/);
    }
    for (const [n, { view }] of readers.entries()) {
      expect(view.entries).toEqual(readers[n - (n % clientsEach)]?.view.entries);
    }
    const shown = readers.reduce((sum, { view }) => sum + view.shown.size, 0);
    expect(shown).toBeGreaterThan(readers.length * 3);
    expect(readers.reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(150);
    if (process.env.TEST_LOG)
      process.stderr.write(`${readers.map(({ connections }) => connections).join(' ')} connections\n`);
  });
});
