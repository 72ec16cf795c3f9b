import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../support/server.ts';

it.each([
  ['api', true],
  ['worker', true],
  ['scheduler', false],
])(
  'a process with the role %s warns about agents that share the network of the host: %s',
  { timeout: 60_000 },
  async (roles, isWarned) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-warning-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const config = join(dataDir, 'agents.json');
    await writeFile(config, JSON.stringify({ agents: [{ id: 'own', command: ['agent'] }] }));
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', ROLES: roles, AGENTS_CONFIG: config };
    const server = await startServer(env);
    // The warning comes after the address.
    await server.stop();
    const warnings = server.output().match(/share the network of their host: .{0,2}own/g) ?? [];
    expect(warnings).toHaveLength(isWarned ? 1 : 0);
  },
);
