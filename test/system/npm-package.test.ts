import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from '../support/app.ts';
import { messageChunk, scriptedProfile } from '../support/live.ts';
import { installTarball, packPackage, startInstalled, writeBuiltPackage } from '../support/npm-package.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, freePort } from '../support/server.ts';
import { makeDirectory } from '../support/server-env.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { root } from '../support/tree.ts';

const maxInstalledBytes = 100 * 1_048_576;

/** The files in a folder, sorted; paths relative to it. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const digestOf = (folder: string) =>
  filesIn(folder).map((path) => [
    path,
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex'),
  ]);

const contentOf = (path: string) => {
  const bytes = readFileSync(path);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
};

const directory = mkdtempSync(join(tmpdir(), 'switchyard-package-'));
beforeAll(() => writeBuiltPackage(directory), 300_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('contains the built service only: no sources, tests, source maps, or paths of the machine that built it', async () => {
  const files = filesIn(directory);
  for (const path of [
    ...['LICENSE', 'README.md', 'CHANGELOG.md', 'THIRD-PARTY-LICENSES.md', 'docs/operations.md', 'docs/wire/v3.md'],
    ...['dist/main.js', 'dist/cli/switchyard.js', 'dist/agents/demo/main.js', 'dist/agents/sandbox/shim.js'],
    ...['dist/web/index.html', 'dist/api/rest/swagger-ui/swagger-ui.css'],
    'dist/agents/programs/locks/opencode/package-lock.json',
  ]) {
    expect(files).toContain(path);
  }
  const migrations = readdirSync('prisma/migrations', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of migrations) expect(files).toContain(`prisma/migrations/${name}/migration.sql`);
  const unknown = files.filter(
    (path) => !/^(?:dist|docs|prisma\/migrations)\/|^[A-Z-]+(?:\.md)?$|^(?:package|sbom\.cdx)\.json$/.test(path),
  );
  expect(unknown).toEqual([]);
  expect(
    files.filter((path) => /\.(?:ts|tsx|map|inputs|tgz)$|(?:^|\/)(?:test|\.env|data)\b|\.parts\.json$/.test(path)),
  ).toEqual([]);
  expect(readFileSync(join(directory, 'dist/main.js'), 'utf8')).not.toContain('sourceMappingURL');
  const locations = [root, realpathSync(root)];
  const leaking = files.filter((path) => locations.some((each) => contentOf(join(directory, path)).includes(each)));
  expect(leaking).toEqual([]);
  // The same build gives the same package.
  const again = join(makeDirectory(), 'package');
  await writeBuiltPackage(again);
  expect(digestOf(again)).toEqual(digestOf(directory));
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(manifest).toMatchObject({ name: 'switchyard', version, engines: { node: '>=20.19.0' } });
  // The bill of materials has the packages of the bundles, and the dependency.
  const { components } = JSON.parse(readFileSync(join(directory, 'sbom.cdx.json'), 'utf8'));
  const listed = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
  const licences = readFileSync(join(directory, 'THIRD-PARTY-LICENSES.md'), 'utf8').matchAll(/^## (\S+) (\S+)$/gm);
  const contained = [...licences].map(([, name, each]) => `pkg:npm/${name}@${each}`);
  expect(listed.sort()).toEqual(
    [...contained, `pkg:npm/@electric-sql/pglite@${dependencies['@electric-sql/pglite']}`].sort(),
  );
  // Everything else is in the bundles: an installation resolves no versions and runs no scripts.
  expect(manifest.dependencies).toEqual({ '@electric-sql/pglite': dependencies['@electric-sql/pglite'] });
  expect(manifest.scripts).toBeUndefined();
}, 300_000);

it('is installed in an empty folder, starts there with npx, and runs agents', async ({ skip }) => {
  const folder = makeDirectory();
  const tarball = await packPackage(directory, makeDirectory());
  if (!(await installTarball(tarball, folder))) {
    const reason = "npm's registry cannot be reached, so the package is not installed.";
    if (process.env.CI) throw new Error(reason);
    return skip(reason);
  }
  const bytes = filesIn(folder).reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
  expect(bytes).toBeLessThan(maxInstalledBytes);
  const script = {
    'session/prompt': [{ write: [messageChunk('Done.'), { result: { stopReason: 'end_turn' } }] }],
  };
  const AGENTS_CONFIG = await writeProfiles({}, scriptedProfile('packaged', script));
  const service = await startInstalled(folder, { PORT: String(await freePort()), AGENTS_CONFIG });
  expect(service.output()).toContain(`  Data                    ${join(realpathSync(folder), 'data')}\n`);
  expect(existsSync(join(folder, 'data/secret.key'))).toBe(true);
  const target = { url: service.url, adminToken: bootstrapToken };
  for (const path of ['/healthz', '/readyz', '/', '/openapi/assets/swagger-ui-bundle.js', '/v3/self']) {
    const token = path.startsWith('/v3') ? bootstrapToken : null;
    const { status } = token === null ? await fetch(service.url + path) : await call(service, token, 'GET', path);
    expect([path, status]).toEqual([path, 200]);
  }
  const scripted = await createFirstSession(target, bootstrapToken, 'work', { agent: 'packaged' });
  await waitUntilEnded(target, scripted);
  expect(await readMessages(target, scripted)).toContain('AGENT_MESSAGE: Done.');
  // The demo agent is in the package, and runs in the sandbox of this machine.
  const own = await createFirstSession(target, bootstrapToken, 'write a.txt hello\nlist');
  await waitUntilEnded(target, own);
  expect((await readMessages(target, own)).join()).toContain('a.txt');
  await service.stop();
  expect(service.output()).toContain('Switchyard has stopped.');
  const env = { PATH: process.env.PATH, HOME: folder };
  const listed = await promisify(execFile)('npx', ['--no', '--', 'switchyard', 'agents', 'list'], { cwd: folder, env });
  expect(listed.stdout).toContain('npx --no -- switchyard agents install NAME');
}, 300_000);

it('says which Node.js it needs, and has a version and a text of help', async () => {
  const program = join(directory, 'dist/cli/switchyard.js');
  const run = (args: readonly string[], version?: string) => {
    const preload = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    const options = version === undefined ? [] : ['--import', preload];
    return promisify(execFile)(process.execPath, [...options, program, ...args]).catch((error) => error);
  };
  for (const old of ['18.20.4', '20.18.3']) {
    expect(await run([], old)).toMatchObject({
      code: 1,
      stderr: `Switchyard needs Node.js 20.19.0 or newer, but this is ${old}.\n`,
    });
  }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await run(['--version'], '22.0.0')).toMatchObject({ stdout: `${version}\n` });
  expect(await run(['--help'])).toMatchObject({ stdout: expect.stringMatching(/^Usage: switchyard/) });
  expect(await run(['start', '--help'])).toMatchObject({ stdout: expect.stringMatching(/^Usage: switchyard/) });
  expect(await run(['begin'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^There is no command "begin"\.\n\nUsage: switchyard/),
  });
});
