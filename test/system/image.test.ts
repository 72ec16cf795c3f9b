import { chmodSync, readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import {
  buildImages,
  docker,
  makeVolume,
  refusalOf,
  restrictions,
  sandboxOptions,
  startContainer,
  whyNoImages,
} from '../support/docker.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken } from '../support/server.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const missing = await whyNoImages();
// biome-ignore lint/suspicious/noConsole: tests that are skipped must say what they need.
if (missing !== null) console.warn(`Skipping the tests of the images. ${missing}`);

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
let images: Awaited<ReturnType<typeof buildImages>>;
if (missing === null) {
  beforeAll(async () => {
    images = await buildImages(version);
  }, 900_000);
}

/** Containers start slowly where other tests run too. */
const timeoutMs = 600_000;

const started = (url: string) => ({ url, adminToken: bootstrapToken });

it.skipIf(missing !== null)(
  'runs as a user with a read-only root, and continues its sessions in a new container',
  async () => {
    const image = images.service;
    const labels = JSON.parse(await docker('inspect', '-f', '{{json .Config.Labels}}', image));
    expect(labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'a revision',
    });
    const options = [...restrictions, '-e', 'SANDBOX=none', '-v', `${await makeVolume()}:/data`];
    const first = await startContainer(image, options);
    expect(await first.shell('id -u; echo > /data/written; echo > /opt/switchyard/written')).toMatch(
      /^1000\n.*Read-only file system$/s,
    );
    expect(await first.shell('switchyard --version; tr "\\0" " " < /proc/1/cmdline')).toBe(
      `${version}\ntini -- switchyard`,
    );
    const prompt = 'write kept.txt x\nsay written\nsleep 600';
    const id = await createFirstSession(started(first.url), bootstrapToken, prompt);
    await expect.poll(() => readMessages(started(first.url), id)).toContain('AGENT_MESSAGE: written');
    // A second service on the same files is refused, and says who has them.
    expect(await refusalOf(image, options)).toMatch(
      /The data directory \/data is in use by another Switchyard process/,
    );
    expect(await first.stop()).toBe(0);
    const second = await startContainer(image, options);
    expect(await second.shell('ls /data/sessions/*/ws')).toContain('kept.txt');
    const own = await createFirstSession(started(second.url), bootstrapToken, 'write a.txt hello\nlist');
    await waitUntilEnded(started(second.url), own);
    expect((await readMessages(started(second.url), own)).join()).toContain('a.txt');
    expect(await second.stop()).toBe(0);
  },
  timeoutMs,
);

it.skipIf(missing !== null)(
  'does not start with wrong files, nor with agents that could read its keys',
  async () => {
    const refusals = await Promise.all(
      [['--tmpfs', '/data:uid=0,mode=0700'], ['-e', 'SECRET_KEY_FILE=/run/secrets/key'], []].map((options) =>
        refusalOf(images.service, [...restrictions, ...options]),
      ),
    );
    expect(refusals).toEqual(
      [
        'DATA_DIR must be a directory that this process (user 1000) may write to, or make, but /data is none (EACCES).',
        'SECRET_KEY_FILE names a file that cannot be read (ENOENT).',
        'allow bubblewrap as docs/installation.md says',
      ].map((each) => expect.stringContaining(each)),
    );
  },
  timeoutMs,
);

it.skipIf(missing !== null)(
  'runs agents in a sandbox that hides the keys of the service',
  async ({ skip }) => {
    const image = images.agents;
    const AGENTS_CONFIG = await writeProfiles({}, { id: 'shell', command: ['node', '-e', shellAgent] });
    chmodSync(AGENTS_CONFIG, 0o644);
    const key = `${'k3y-of-the-service-'.repeat(3)}`;
    const options = [
      ...restrictions,
      '-e',
      `SECRET_KEY=${key}`,
      '-e',
      'AGENTS_CONFIG=/agents.json',
      '-v',
      `${AGENTS_CONFIG}:/agents.json:ro`,
    ];
    const bwrap = ['--ro-bind', '/', '/', '--unshare-all', '--proc', '/proc', 'true'];
    const problem = await docker(
      'run',
      '--rm',
      ...restrictions,
      ...sandboxOptions,
      '--entrypoint',
      'bwrap',
      image,
      ...bwrap,
    ).then(() => null, String);
    if (problem !== null) return skip(`Bubblewrap does not work in containers of this host: ${problem}`);
    const { url, shell, stop } = await startContainer(image, [...options, ...sandboxOptions]);
    // The secrets are there.
    expect(await shell('cat /data/worker.id && tr "\\0" "\\n" < /proc/1/environ | grep SECRET_KEY')).toContain(key);
    const look =
      'set +e; ls -a / /data /run; cat /agents.json /data/worker.id; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"; git --version; rg --version';
    const id = await createFirstSession(started(url), bootstrapToken, look, { agent: 'shell' });
    await waitUntilEnded(started(url), id);
    const seen = (await readMessages(started(url), id)).join('\n');
    expect(seen).toContain('git version');
    expect(seen).toContain('ripgrep');
    expect(seen).toContain("'/data': No such file or directory");
    expect(seen).not.toContain(key);
    expect(seen).not.toContain(bootstrapToken);
    expect(await stop()).toBe(0);
  },
  timeoutMs,
);
