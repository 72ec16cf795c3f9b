import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openBwrap } from '../src/agents/sandbox/open-bwrap.ts';
import { percentile } from '../test/support/checkpoint-kills/kill-figures.ts';
import type { Bench } from './support/bench.ts';
import { ensureRepository } from './support/git-repository.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import { permitForge, startLocalForge } from './support/local-forge.ts';
import type { Row } from './support/measures.ts';
import { mutate } from './support/mutate.ts';
import { promptedAgent } from './support/prompted-agent.ts';
import { startPrompted } from './support/prompted-session.ts';

/** The packages that the set-up installs. */
const packages = [
  ...['eslint@9.39.1', 'webpack@5.103.0', 'typescript@5.9.3', 'date-fns@4.1.0', 'jest@30.2.0', 'rxjs@7.8.2'],
  ...['core-js@3.47.0', 'lodash@4.17.21', '@types/node@20.19.25'],
];

const repositoriesDocument = '{ organizations(first: 1) { nodes { repositories(first: 1) { nodes { id } } } } }';

/**
 * The time from `createSession` until the agent has its first prompt, in a repository of 100 MB whose set-up waits for a minute and
 * installs packages of npm: for the first session, and for those that start with its result.
 */
export async function measureEnvironments(bench: Bench): Promise<Row[]> {
  const repository = await ensureRepository((text) => bench.progress(text));
  const forge = await startLocalForge(bench, repository);
  const directory = await bench.createFolder();
  const driver = await openBwrap({ directory, path: process.env.PATH ?? '', hidden: [] }).then(
    () => 'bwrap',
    () => 'none',
  );
  const command = [process.execPath, '-e', promptedAgent];
  const agents = [{ id: 'prompted', command, mcp: false, 'memory_mb': 50, sandbox: { driver } }];
  const config = join(directory, 'agents.json');
  await writeFile(config, JSON.stringify({ agents }));
  const env = { ROLES: 'api,worker', AGENTS_CONFIG: config, MAX_CONCURRENT_SESSIONS: '50', GIT_ALLOW_HTTP: 'true' };
  const server = await bench.startServer(await bench.createDatabase(), { env });
  await permitForge(forge, `org-${server.organizationId}`, (...args) => mutate(server, ...args));
  const repositories = [{ repository: `${forge.host}/${await forge.newPath()}` }];
  const input = { organizationId: `org-${server.organizationId}`, agent: 'prompted', prompt: 'Go.', repositories };

  await startPrompted(server, input);
  const { data } = await askOnce(server.url, graphqlRequest(server.token, repositoriesDocument, {}));
  const [{ id: repositoryId }] = data.organizations.nodes[0].repositories.nodes;
  const environmentDefinition = `setup:\n  - sleep 60\n  - echo node_modules > .gitignore\n  - npm install --no-audit --no-fund ${packages.join(' ')}\n`;
  await mutate(server, 'updateRepository', 'repository { id }', { repositoryId, environmentDefinition });
  const first = await startPrompted(server, input);
  bench.progress(`  The first session: ${(first.ms / 1_000).toFixed(1)} s.`);
  const later: number[] = [];
  for (let n = 0; n < (bench.options.isQuick ? 5 : 20); n++) {
    // Until then, the session before is saved.
    await wait(5_000);
    later.push((await startPrompted(server, input)).ms / 1_000);
  }
  const [middle = 0, high = 0] = [0.5, 0.95].map((part) => percentile(later, part));
  const note = `${middle.toFixed(2)} / ${high.toFixed(2)} s (p50 / p95 of ${later.length}, ${driver}); the first session, with the set-up, ${(first.ms / 1_000).toFixed(1)} s`;
  bench.progress(`  environments/second: ${note}`);
  return [{ name: 'environments/second', value: high, note }];
}
