import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { writeBuiltPackage } from './npm-package.ts';
import { bootstrapToken } from './server.ts';

/** The image that the images of the service begin with. */
const baseImage = process.env.TEST_NODE_IMAGE ?? 'node:22-bookworm-slim';

/** Runs Docker's client and returns its output. */
export async function docker(...args: string[]): Promise<string> {
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  const { stdout, stderr } = await promisify(execFile)('docker', args, { env, maxBuffer: 2 ** 26 });
  return (stdout || stderr).trim();
}

const fails = (...args: string[]) =>
  docker(...args).then(
    () => null,
    (error: ExecFileException & { readonly stderr?: string }) => error.stderr || error.message,
  );

/** Returns the reason why images cannot be built here; null: they can. */
export async function whyNoImages(): Promise<string | null> {
  if ((await fails('version')) !== null) return 'No Docker engine runs here.';
  if ((await fails('image', 'inspect', baseImage)) === null || (await fails('pull', '-q', baseImage)) === null)
    return null;
  return `The image ${baseImage} is not here and cannot be pulled: deploy/docker/make-node-image.sh makes it.`;
}

/** Builds the targets of the Dockerfile from the package of this build, and returns the ids of the images. */
export async function buildImages(version: string): Promise<{ readonly service: string; readonly agents: string }> {
  const context = await mkdtemp(join(tmpdir(), 'switchyard-image-'));
  await writeBuiltPackage(join(context, 'dist/package'));
  await mkdir(join(context, 'node_modules'), { recursive: true });
  await cp('node_modules/@electric-sql', join(context, 'node_modules/@electric-sql'), { recursive: true });
  for (const file of ['Dockerfile', '.dockerignore']) await cp(file, join(context, file));
  const values = { NODE_IMAGE: baseImage, PACKAGE: 'prebuilt', VERSION: version, REVISION: 'a revision' };
  const options = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const build = (target: string) => docker('build', '-q', ...options, '--target', target, context);
  const images = { service: await build('switchyard'), agents: await build('agents') };
  await rm(context, { recursive: true });
  return images;
}

/** The options of docs/installation.md with which bubblewrap works in a container. */
export const sandboxOptions = [
  ...['--security-opt', `seccomp=${resolve('deploy/docker/seccomp.json')}`],
  ...['--security-opt', 'apparmor=unconfined', '--security-opt', 'systempaths=unconfined'],
];

/** The options that restrict a container: its root is read-only, and it has no capabilities. */
export const restrictions = [
  ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
];

/** Makes a volume, which is removed after the test. */
export async function makeVolume(): Promise<string> {
  const name = await docker('volume', 'create');
  onTestFinished(() => docker('volume', 'rm', '-f', name).then(() => undefined));
  return name;
}

/** A container of the service. */
export interface ServiceContainer {
  readonly url: string;
  readonly id: string;
  /** Runs a shell command in it, and returns its output, also that of errors. */
  shell(command: string): Promise<string>;
  /** Stops it with SIGTERM, removes it, and returns the exit code; 137: it was killed after 40 seconds. */
  stop(): Promise<number>;
}

/** Starts a container with these options of `docker run`, and waits until its health check succeeds. */
export async function startContainer(image: string, options: readonly string[]): Promise<ServiceContainer> {
  const env = ['-e', `BOOTSTRAP_TOKEN=${bootstrapToken}`];
  const id = await docker('create', '--health-interval=1s', '-p', '127.0.0.1:0:4000', ...env, ...options, image);
  onTestFinished(() => docker('rm', '-f', id).then(() => undefined));
  const change = nextChange(id);
  await docker('start', id);
  if ((await change) !== 'health_status: healthy') throw new Error(await logsOf(id));
  const address = await docker('port', id, '4000/tcp');
  return {
    url: `http://${address.split('\n')[0]}`,
    id,
    shell: (command) => docker('exec', id, 'sh', '-c', `(${command}) 2>&1 || true`),
    async stop() {
      await docker('stop', '-t', '40', id);
      const code = Number(await docker('inspect', '-f', '{{.State.ExitCode}}', id));
      await docker('rm', id);
      return code;
    },
  };
}

/** Runs a container that does not start, and returns what it says. */
export async function refusalOf(image: string, options: readonly string[]): Promise<string> {
  return (await fails('run', '--rm', ...options, image)) ?? 'It ended without an error.';
}

// Resolves when a container becomes healthy or ends.
async function nextChange(id: string): Promise<string> {
  const filters = ['--filter', `container=${id}`, '--filter', 'event=health_status', '--filter', 'event=die'];
  const child = spawn('docker', ['events', ...filters, '--since', '0s', '--format', '{{.Action}}']);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line !== 'health_status: unhealthy') return line;
    }
    throw new Error('docker events has ended.');
  } finally {
    child.kill();
    await once(child, 'close');
  }
}

async function logsOf(id: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('docker', ['logs', id]);
  return stdout + stderr;
}
