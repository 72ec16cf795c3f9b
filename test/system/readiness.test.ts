import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as always, expect, onTestFinished, vi } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, startServer } from '../support/server.ts';
import { createFirstSession } from '../support/sessions.ts';

const patience = { timeout: 40_000 };

const baseEnv = { PORT: '0', SECRET_KEY: 'a secret key that is only for the tests', ROLES: 'api,scheduler' };

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-readiness-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return `${response.status} ${(await response.text()).trim()}`;
};

/** Mounts a small separate disk; null if this user may not mount. */
async function mountDisk(megabytes: number): Promise<string | null> {
  const directory = await temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch {
    return null;
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', directory]);
  });
  return directory;
}

const disk = process.getuid?.() === 0 && existsSync('/bin/mount') ? always : always.skip;
if (disk === always.skip) process.stderr.write('Skipping the tests of full disks: they mount a disk, as root.\n');

disk('is not ready while the disk of attachments is full, and answers 503 to requests that need it', async () => {
  const attachments = await mountDisk(1);
  if (attachments === null) return void process.stderr.write('Skipping: no disk can be mounted here.\n');
  const server = await startServer({ ...baseEnv, DATA_DIR: await temporaryDirectory(), ATTACHMENTS_DIR: attachments });
  expect(await readiness(server.url)).toBe('200 ready');
  // The next request is not served from this check of the disk.
  await writeFile(join(attachments, 'ballast'), Buffer.alloc(2_000_000)).catch(() => undefined);
  await vi.waitFor(
    async () => expect(await readiness(server.url)).toBe('503 the disk of ATTACHMENTS_DIR is full'),
    patience,
  );
  const form = new FormData();
  form.append('file', new Blob([Buffer.alloc(100_000)]), 'a.bin');
  const upload = await fetch(`${server.url}/v1/attachments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${/apk_user_\w+/.exec(server.output())?.[0]}` },
    body: form,
  });
  expect(upload.status, server.output()).toBe(503);
  expect(upload.headers.get('retry-after')).toBe('30');
  expect(await upload.json()).toMatchObject({
    detail: expect.stringMatching(/^The disk of the file storage is full\./),
  });
  await rm(join(attachments, 'ballast'));
  await vi.waitFor(async () => expect(await readiness(server.url)).toBe('200 ready'), patience);
  expect(await server.stop()).toBe(0);
});

always('answers requests after a stop for as long as it is told to, and is not ready', async () => {
  const server = await startServer({ ...baseEnv, DATA_DIR: await temporaryDirectory(), STOP_DELAY_SECONDS: '15' });
  expect(await readiness(server.url)).toBe('200 ready');
  const stopped = server.stop();
  await vi.waitFor(async () => expect(await readiness(server.url)).toBe('503 stopping'), patience);
  const query = '{ organizations(first: 1) { nodes { id } } }';
  expect((await call(server, bootstrapToken, 'POST', '/graphql', { query })).status).toBe(200);
  expect(await stopped).toBe(0);
});

always('ends a stop by its deadline, and says what it has not handed over', async () => {
  const graces = { cancel: 600_000, stdin: 600_000, term: 600_000 };
  const env = { ...baseEnv, ROLES: 'api,worker', DATA_DIR: await temporaryDirectory(), STOP_TIMEOUT_SECONDS: '1' };
  const server = await startServer({ ...env, AGENTS_CONFIG: await writeProfiles({ stop_graces_ms: graces }) });
  const id = await createFirstSession(server, bootstrapToken, 'write begun.txt 1\nhang');
  await vi.waitFor(async () => {
    const { data } = await graphql(
      server,
      bootstrapToken,
      `{ session(id: "${id}") { events(first: 9) { nodes { __typename } } } }`,
    );
    expect(JSON.stringify(data)).toContain('ToolCallEvent');
  }, patience);
  expect(await server.stop()).toBe(1);
  expect(server.output()).toContain(
    'Switchyard did not stop within 1 second (STOP_TIMEOUT_SECONDS). It has not handed over a session.\n',
  );
});
