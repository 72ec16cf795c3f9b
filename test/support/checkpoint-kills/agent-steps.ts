import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

/** The surroundings of the agent of the proof. */
export interface StepContext {
  readonly workspace: string;
  readonly home: string;
  /**
   * A directory with package.json and package-lock.json, npm's cache with its packages, and the path of this agent's copy of the
   * cache, since a killed npm damages its cache; null: npm is not used.
   */
  readonly packages: { readonly directory: string; readonly cache: string; readonly copy: string } | null;
}

/** A tool call of the agent: it changes only what is below `touches`. */
export interface PlannedStep {
  readonly name: string;
  readonly touches: readonly string[];
  /** Its states in between are visible for longer than one write. */
  readonly isLong: boolean;
  run(): void;
}

/** Steps by their names, with their weights. */
const weights = {
  edit: 10,
  create: 6,
  oddName: 3,
  mode: 2,
  link: 3,
  hardLink: 1,
  remove: 2,
  rename: 2,
  renameDirectory: 1,
  replaceDirectory: 1,
  emptyDirectory: 1,
  commit: 4,
  repack: 0.5,
  large: 1.5,
  largePart: 2,
  ignored: 2,
  database: 3,
  install: 0.4,
} as const;
type StepName = keyof typeof weights;

const below = (limit: number) => Math.floor(Math.random() * limit);
const pick = <T>(items: readonly T[]): T | undefined => items[below(items.length)];
const unique = () => randomBytes(6).toString('hex');

/** Creates the files with which a new session begins. */
export function createFirstFiles({ workspace }: StepContext): void {
  fs.writeFileSync(join(workspace, '.gitignore'), 'node_modules/\nbuild/\n');
  for (const directory of ['src', 'docs', 'odd', 'large', 'build', 'installed'])
    fs.mkdirSync(join(workspace, directory), { recursive: true });
  for (let n = 0; n < 40; n++) fs.writeFileSync(join(workspace, `src/file-${n}.ts`), sourceText(n));
  git(workspace, 'init', '-q', '-b', 'main');
  git(workspace, 'config', 'gc.auto', '0');
  commit(workspace);
}

const sourceText = (n: number) =>
  Array.from({ length: 30 }, (_, line) => `export const n${line} = ${n + line};\n`).join('');

/** Plans the next step at random. */
export function planStep(context: StepContext): PlannedStep {
  const possible = Object.entries(weights).filter(([name]) => name !== 'install' || context.packages !== null);
  let left = Math.random() * possible.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of possible) {
    left -= weight;
    if (left < 0) return { name, ...planners[name as StepName](context) };
  }
  return { name: 'edit', ...planners.edit(context) };
}

type Plan = Omit<PlannedStep, 'name'>;

const planners: Record<StepName, (context: StepContext) => Plan> = {
  edit: (context) => {
    const path = sourceOf(context) ?? 'src/file-0.ts';
    return short(path, () => fs.appendFileSync(join(context.workspace, path), `// Changed: ${unique()}\n`));
  },
  create: (context) => {
    const path = `src/new-${unique()}.ts`;
    const file = join(context.workspace, path);
    // Half of the programs write another file and rename it.
    return short(path, () => {
      if (below(2) === 0) return fs.writeFileSync(file, sourceText(below(1_000)));
      fs.writeFileSync(`${context.home}/.new`, unique());
      fs.renameSync(`${context.home}/.new`, file);
    });
  },
  oddName: (context) => {
    const name = Buffer.from(`odd/${pick(oddNames)}`, 'latin1');
    const file = Buffer.concat([Buffer.from(`${context.workspace}/`), name]);
    return short(name.toString('latin1'), () => fs.writeFileSync(file, unique()));
  },
  mode: (context) => {
    const path = sourceOf(context) ?? 'src';
    return short(path, () => fs.chmodSync(join(context.workspace, path), pick([0o644, 0o755, 0o600, 0o640]) ?? 0o644));
  },
  link: (context) => {
    const path = `docs/link-${below(5)}`;
    const target = pick(['../src/file-1.ts', '/nowhere', 'loop', `../src/${unique()}`]) ?? '';
    return short(path, () => {
      fs.rmSync(join(context.workspace, path), { recursive: true, force: true });
      fs.symlinkSync(target, join(context.workspace, path));
    });
  },
  hardLink: (context) => {
    // Its files never change: a restore may make two files of them.
    const name = `docs/hard-${unique()}`;
    const [first, second] = [`${name}-1`, `${name}-2`];
    const run = () => {
      fs.writeFileSync(join(context.workspace, first), unique());
      fs.linkSync(join(context.workspace, first), join(context.workspace, second));
    };
    return { ...short(first, run), touches: [`workspace/${first}`, `workspace/${second}`] };
  },
  remove: (context) => {
    const path = sourceOf(context, /^new-/) ?? 'src/none';
    return short(path, () => fs.rmSync(join(context.workspace, path), { force: true }));
  },
  rename: (context) => {
    const [from, to] = [sourceOf(context, /^new-/), `src/new-${unique()}`];
    if (from === undefined) return planners.create(context);
    return {
      ...short(to, () => fs.renameSync(join(context.workspace, from), join(context.workspace, to))),
      touches: [`workspace/${from}`, `workspace/${to}`],
    };
  },
  renameDirectory: (context) => {
    const [from, to] = below(2) === 0 ? ['docs', 'docs-old'] : ['odd', 'odd-old'];
    return long([from, to], () => {
      fs.rmSync(join(context.workspace, to), { recursive: true, force: true });
      fs.renameSync(join(context.workspace, from), join(context.workspace, to));
      fs.mkdirSync(join(context.workspace, from));
    });
  },
  replaceDirectory: (context) => {
    const path = `docs/changing-${below(3)}`;
    const file = join(context.workspace, path);
    return long([path], () => {
      const isDirectory = fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
      fs.rmSync(file, { recursive: true, force: true });
      if (isDirectory) return fs.symlinkSync('../src', file);
      fs.mkdirSync(file);
      for (let n = 0; n < 5; n++) fs.writeFileSync(join(file, `part-${n}`), unique());
    });
  },
  emptyDirectory: (context) => {
    const path = `docs/empty-${unique()}`;
    return short(path, () => fs.mkdirSync(join(context.workspace, path)));
  },
  commit: (context) => long(['.git'], () => commit(context.workspace)),
  repack: (context) => long(['.git'], () => git(context.workspace, 'repack', '-q', '-a', '-d')),
  large: (context) => {
    const path = `large/data-${below(3)}`;
    return long([path], () =>
      fs.writeFileSync(join(context.workspace, path), randomBytes(4_000_000 + below(12_000_000))),
    );
  },
  largePart: (context) => {
    const path = `large/data-${below(3)}`;
    return long([path], () => {
      const file = join(context.workspace, path);
      const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      const descriptor = fs.openSync(file, size === 0 ? 'w' : 'r+');
      fs.writeSync(descriptor, randomBytes(4_096), 0, 4_096, size === 0 ? 0 : below(size));
      fs.closeSync(descriptor);
    });
  },
  ignored: (context) => {
    const path = `build/output-${below(30)}.js`;
    // A checkpoint may lack ignored files.
    const run = () => {
      fs.mkdirSync(join(context.workspace, 'build'), { recursive: true });
      fs.writeFileSync(join(context.workspace, path), unique().repeat(1_000));
    };
    return { ...short(path, run), touches: ['workspace/build'] };
  },
  database: (context) => ({
    ...long([], () => insertRow(context)),
    touches: ['home/agent/state.db', 'home/agent/state.db-wal', 'home/agent/state.db-shm'],
  }),
  install: (context) => long(['installed'], () => install(context)),
};

function short(path: string, run: () => void): Plan {
  return { touches: [`workspace/${path}`], isLong: false, run };
}

function long(paths: readonly string[], run: () => void): Plan {
  return { touches: paths.map((path) => `workspace/${path}`), isLong: true, run };
}

/** Names in latin1 that are UTF-8, other encodings, and characters that programs confuse. */
const oddNames: readonly string[] = [
  'latin1-\xe9\xff',
  Buffer.from('日本語 🙂').toString('latin1'),
  Buffer.from('e\u0301').toString('latin1'),
  'line\nbreak',
  '-rf',
  ' space ',
  'quote"\'\\',
  'n'.repeat(255),
  'shift-jis-\x83\x65\x83\x58\x83\x67',
  '\x01\x7f',
];

function sourceOf({ workspace }: StepContext, pattern = /./): string | undefined {
  const name = pick(fs.readdirSync(join(workspace, 'src')).filter((each) => pattern.test(each)));
  return name && `src/${name}`;
}

function git(workspace: string, ...args: string[]): void {
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const env = { ...process.env, HOME: workspace, GIT_CONFIG_NOSYSTEM: '1', ...identity };
  execFileSync('git', args, { cwd: workspace, env, stdio: 'pipe' });
}

function commit(workspace: string): void {
  git(workspace, 'add', '-A');
  git(workspace, 'commit', '-q', '--allow-empty', '-m', unique());
}

const hasSqlite = (process.env.PATH ?? '').split(':').some((directory) => fs.existsSync(join(directory, 'sqlite3')));

/** The database in the home, in WAL mode like those of agents. */
function insertRow({ home }: StepContext): void {
  if (!hasSqlite) return;
  const sql = `pragma journal_mode=wal; create table if not exists row (id integer primary key, body text);
    insert into row (body) values (hex(randomblob(2000)));`;
  execFileSync('sqlite3', [join(home, 'agent/state.db'), sql], { stdio: 'pipe' });
}

/** Returns the findings of SQLite about the database; null: it is sound, or there is none. */
export function checkDatabase({ home }: StepContext): string | null {
  const file = join(home, 'agent/state.db');
  if (!hasSqlite || !fs.existsSync(file)) return null;
  try {
    const found = execFileSync('sqlite3', [file, 'pragma integrity_check; select count(*) > 0 from row'], {
      encoding: 'utf8',
    });
    return found === 'ok\n1\n' ? null : found;
  } catch (error) {
    return String(error);
  }
}

function install({ workspace, home, packages }: StepContext): void {
  if (packages === null) return;
  const target = join(workspace, 'installed');
  for (const name of ['package.json', 'package-lock.json'])
    fs.copyFileSync(join(packages.directory, name), join(target, name));
  copyCache(packages);
  const env = { ...process.env, HOME: home, npm_config_cache: packages.copy };
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--logs-max=0'];
  // As the lock file was made: otherwise npm may look for peers that the cache lacks.
  const options = ['--offline', '--ignore-scripts', '--legacy-peer-deps', ...quiet];
  try {
    execFileSync('npm', ['ci', ...options], { cwd: target, env, stdio: 'pipe' });
  } catch (error) {
    fs.rmSync(packages.copy, { recursive: true, force: true });
    copyCache(packages);
    execFileSync('npm', ['ci', ...options], { cwd: target, env, stdio: 'pipe' });
    process.stderr.write(`npm succeeded with another copy of its cache. Before: ${error}\n`);
  }
}

function copyCache({ cache, copy }: NonNullable<StepContext['packages']>): void {
  if (fs.existsSync(copy)) return;
  const unfinished = `${copy}.${process.pid}`;
  fs.cpSync(cache, unfinished, { recursive: true });
  fs.renameSync(unfinished, copy);
}
