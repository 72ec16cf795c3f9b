import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { builtProgram, programs as ownPrograms, programInputs } from './programs.ts';

const cache = 'node_modules/.cache/switchyard';
/** Longer than any build: a lock of this age belongs to a process that has ended. */
const staleLockMs = 180_000;

/** A build that tests start or load by its path; a run builds it only for the files that need it. */
interface BuiltPart {
  readonly name: string;
  isStale(): Promise<boolean>;
  compile(): Promise<void>;
}

/** The service as `npm start` runs it: it starts twice as fast as from its sources. */
const service: BuiltPart = {
  name: 'service',
  isStale: async () => isOlder('dist/service.inputs', await listedInputs('dist/service.inputs')),
  async compile() {
    await bundle('service');
    if (!(await isOlder('dist/embedded', await templateInputs()))) return;
    await runProgram(process.execPath, 'dist/embedded-template.js').catch(async (error: unknown) => {
      // Without the list of sources, the next run builds again.
      await rm('dist/service.inputs');
      throw error;
    });
  },
};

/** The programs and threads of the service and of the tests. */
const programs: BuiltPart = {
  name: 'programs',
  async isStale() {
    if (await isOlder('dist/programs.inputs', await listedInputs('dist/programs.inputs'))) return true;
    // A program that was added since has no build.
    const outputs = await Promise.all(ownPrograms.map((name) => modifiedAt(builtProgram(name), 0)));
    return outputs.includes(0) || isOlder(programInputs, await listedInputs(programInputs));
  },
  async compile() {
    const { buildPrograms } = await import('./build-programs.ts');
    await Promise.all([bundle('programs'), buildPrograms()]);
  },
};

/** The console. */
const pages: BuiltPart = {
  name: 'console',
  async isStale() {
    const files = await readdir('web', { recursive: true, withFileTypes: true });
    const sources = files.filter((file) => file.isFile() && !file.parentPath.includes('__generated__'));
    const paths = sources.map((file) => join(file.parentPath, file.name)).filter((path) => !path.endsWith('.md'));
    return isOlder('dist/web/index.html', [...paths, 'schema.graphql', 'package-lock.json']);
  },
  compile: () => runProgram('npm', 'run', '--silent', 'build:console'),
};

const made = new Map<BuiltPart, Promise<void>>();

const ensure = (part: BuiltPart) => (): Promise<void> => {
  const making = made.get(part) ?? make(part);
  made.set(part, making);
  return making;
};

/** Builds the service in `dist/` if one of its sources is newer; once, even if several processes request it. */
export const ensureBuilt = ensure(service);

/** Builds the programs and threads of the service and of the tests if one of their sources is newer. */
export const ensurePrograms = ensure(programs);

/** Builds the console in `dist/web/` if one of its sources is newer. */
export const ensureConsole = ensure(pages);

async function make(part: BuiltPart): Promise<void> {
  const lock = join(cache, `building-${part.name}`);
  while (await part.isStale()) {
    if (await takeLock(lock)) {
      try {
        // Another process may have built it between the check and the lock.
        if (await part.isStale()) await part.compile();
        return;
      } finally {
        await rm(lock, { recursive: true, force: true });
      }
    }
    await delay(200);
  }
}

/** The sources that a build read, from the list that it wrote; null if there is no build. */
async function listedInputs(list: string): Promise<string[] | null> {
  const text = await readFile(list, 'utf8').catch(() => null);
  return text === null ? null : text.split('\n');
}

/** The sources of the databases in `dist/embedded/`. */
async function templateInputs(): Promise<string[]> {
  const migrations = await readdir('prisma/migrations', { recursive: true });
  const code = ['pglite-template', 'pglite', 'migrations', 'older-versions'].map((name) => `src/store/${name}.ts`);
  return [...migrations.map((name) => join('prisma/migrations', name)), ...code, 'package-lock.json'];
}

/** Returns true if an output is missing, or a source is newer or was deleted. */
async function isOlder(output: string, inputs: readonly string[] | null): Promise<boolean> {
  if (inputs === null) return true;
  const builtAt = await modifiedAt(output, 0);
  const times = await Promise.all(inputs.map((input) => modifiedAt(input, Number.POSITIVE_INFINITY)));
  return times.some((time) => time > builtAt);
}

const modifiedAt = (path: string, otherwise: number): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => otherwise,
  );

async function takeLock(lock: string): Promise<boolean> {
  await mkdir(cache, { recursive: true });
  const isMine = await mkdir(lock).then(
    () => true,
    () => false,
  );
  const lockedAt = await modifiedAt(lock, Date.now());
  if (!isMine && Date.now() - lockedAt > staleLockMs) await rm(lock, { recursive: true, force: true });
  return isMine;
}

// A build by rolldown.config.mjs.
const bundle = (name: string): Promise<void> =>
  runProgram('env', `BUILD=${name}`, process.execPath, 'node_modules/rolldown/bin/cli.mjs', '-c');

async function runProgram(program: string, ...args: string[]): Promise<void> {
  // With Vitest's NODE_ENV, Vite would build the console for development.
  const { NODE_ENV: _environment, ...env } = process.env;
  await promisify(execFile)(program, args, { env }).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`The build fails:\n${error.stdout}${error.stderr}`, { cause: error });
  });
}
