import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { graphql } from '../support/app.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { bootstrapToken, freePort, type Inherited, startServer, stdioWith } from '../support/server.ts';
import { waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { firstOrganizationId } from '../support/sessions.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'bwrap'] as const) : (['none'] as const);

/**
 * A directory with a file that only the service may read, opened under several descriptor numbers by the program that started
 * the service.
 */
function openSecret(): { dir: string; secret: string; inherited: Inherited } {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-descriptors-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const secret = join(dir, 'secret.key');
  writeFileSync(secret, 'c4n4ry');
  const open = openSync(secret, 'r');
  onTestFinished(() => closeSync(open));
  return { dir, secret, inherited: { 3: open, 9: open, 24: open, 200: open } };
}

/** Returns the targets of the descriptors of a process, which may close some meanwhile. */
const linksOf = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return [];
    }
  });

/** Prints the targets of its own descriptors, and exits. */
const descriptorLister = (file: string) => ({
  id: 'look',
  command: ['sh', '-c', `exec > ${file}; ls -l /proc/$$/fd`],
  retry_delays_ms: [],
});

/** The lines of `ls -l` about descriptors other than the standard streams. */
const others = (listing: string) => listing.split('\n').filter((line) => /\s(\d{2,}|[3-9]) -> /.test(line));

it.skipIf(process.platform !== 'linux').each(sandboxes)(
  'no process of an agent inherits a file that was open when the service started (sandbox %s)',
  async (sandbox) => {
    const { dir, secret, inherited } = openSecret();
    const config = join(dir, 'agents.json');
    const profiles = [{ id: 'demo' }, descriptorLister('$HOME/descriptors')].map((each) => ({ ...each, sandbox }));
    writeFileSync(config, JSON.stringify({ default: 'demo', agents: profiles }));
    const dataDir = join(dir, 'data');
    const env = { DATA_DIR: dataDir, AGENTS_CONFIG: config, PORT: String(await freePort()), LOG_LEVEL: 'warn' };
    const server = await startServer(env, inherited);
    expect(linksOf(server.pid)).toContain(secret);
    const target = { url: server.url, adminToken: bootstrapToken };
    const create = async (agent: string, prompt: string): Promise<string> => {
      const query = 'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }';
      const organizationId = await firstOrganizationId(server, bootstrapToken);
      const { data } = await graphql(server, bootstrapToken, query, { input: { organizationId, agent, prompt } });
      return data.createSession.session.sessionId;
    };

    const demo = await create('demo', 'ask Is it you?');
    await waitUntilWaiting(target, demo);
    const pids = findByEnvironment({ SWITCHYARD_RUN: demo.replace('devin-', '') });
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) expect(linksOf(pid)).not.toContain(secret);

    const lister = await create('look', 'look around');
    await waitUntilEnded(target, lister);
    const listing = readFileSync(
      join(dataDir, 'sessions', lister.replace('devin-', ''), 'home', 'descriptors'),
      'utf8',
    );
    expect(listing).toContain(' 0 -> ');
    for (const line of others(listing)) expect(line).toMatch(/ -> \/dev\/null$/);
    expect(linksOf(server.pid)).toContain(secret);
  },
);

it.skipIf(process.platform !== 'linux')('no checked agent inherits one either', async () => {
  const { dir, inherited } = openSecret();
  const config = join(dir, 'agents.json');
  const file = join(dir, 'descriptors');
  writeFileSync(config, JSON.stringify({ agents: [{ ...descriptorLister(file), sandbox: 'none' }] }));
  const child = spawn(process.execPath, ['dist/cli/agents.js', 'check', 'look'], {
    env: { PATH: process.env.PATH ?? '', AGENTS_CONFIG: config, DATA_DIR: dir },
    stdio: stdioWith(inherited),
  });
  await once(child, 'exit');
  const listing = readFileSync(file, 'utf8');
  expect(listing).toContain(' 0 -> ');
  for (const line of others(listing)) expect(line).toMatch(/ -> \/dev\/null$/);
});
