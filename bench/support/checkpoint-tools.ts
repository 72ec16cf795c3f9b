import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The time that a command took, and the CPU time of its processes. */
export interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** A way to save the directories `workspace` and `home` of `source`. It stores below `store/stored` what would be uploaded. */
export interface CheckpointTool {
  readonly name: string;
  prepare?(store: string): Promise<unknown>;
  save(request: { readonly source: string; readonly store: string; readonly n: number }): Promise<Cost>;
  restore(request: { readonly store: string; readonly target: string; readonly n: number }): Promise<Cost>;
  close?(): Promise<void>;
}

/** Returns the bytes of all files below a directory; 0: there is none. */
export async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  // A name that is not UTF-8 is not found.
  for (const entry of entries)
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}

/** Runs a script of bash with arguments, and returns what it cost. */
async function time(script: string, args: readonly string[], env: Record<string, string> = {}): Promise<Cost> {
  const timed = `TIMEFORMAT='cost %R %U %S'; time { ${script}\n}`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', timed, 'bash', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: args[0] ?? '', LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const [code] = await once(child, 'close');
  const [, wall, user, system] = /cost (\S+) (\S+) (\S+)\s*$/.exec(text) ?? [];
  if (code !== 0 || wall === undefined) throw new Error(`${script} failed with ${code}: ${text}`);
  return { wallMs: Number(wall) * 1_000, cpuMs: (Number(user) + Number(system)) * 1_000 };
}

const withoutIgnored = '--exclude=node_modules';

function restic(name: string, options: string): CheckpointTool {
  const env = { RESTIC_PASSWORD: 'of the benchmark' };
  const restic = 'restic -q --cache-dir "$1/cache" -r "$1/stored"';
  return {
    name,
    prepare: (store) => time(`${restic} init`, [store], env),
    save: ({ source, store }) =>
      time(`cd "$2"; ${restic} backup --host bench ${options} workspace home`, [store, source], env),
    restore: ({ store, target }) => time(`${restic} restore latest --target "$2"`, [store, target], env),
  };
}

function borg(name: string, options: string): CheckpointTool {
  const env = { BORG_PASSPHRASE: 'of the benchmark', BORG_RELOCATED_REPO_ACCESS_IS_OK: 'yes' };
  const tool = (script: string, ...args: string[]) =>
    time(`export BORG_BASE_DIR="$1" BORG_REPO="$1/stored"; ${script}`, args, env);
  return {
    name,
    prepare: (store) => tool('borg init -e repokey-blake2', store),
    save: ({ source, store, n }) =>
      tool(`cd "$2"; borg create --compression zstd,3 ${options} "::n$3" workspace home`, store, source, String(n)),
    restore: ({ store, target, n }) => tool('cd "$2"; borg extract "::n$3"', store, target, String(n)),
  };
}

/** Stores a pack of the new objects for each save. Git cannot store `.git`, times, most modes and empty directories. */
function git(name: string, force: string): CheckpointTool {
  const save = `
    for part in workspace home; do
      export GIT_DIR="$1/$part.git" GIT_WORK_TREE="$2/$part"
      [ -d "$GIT_DIR" ] || git init -q
      git add -A ${force} .
      tree=$(git write-tree)
      parent=$(git rev-parse -q --verify refs/saved || true)
      commit=$(git -c user.name=a -c user.email=a@b commit-tree -m "$3" \${parent:+-p $parent} $tree)
      git update-ref refs/saved $commit
      printf '%s\\n' $commit \${parent:+^$parent} | git pack-objects -q --revs --thin --stdout >"$1/stored/$part-$3.pack"
    done`;
  const restore = `
    for part in workspace home; do
      export GIT_DIR="$2/.$part.git" GIT_WORK_TREE="$2/$part"
      mkdir "$2/$part"
      git init -q
      for n in $(seq 0 "$3"); do git index-pack --fix-thin --stdin <"$1/stored/$part-$n.pack" >/dev/null; done
      git read-tree $(git --git-dir="$1/$part.git" rev-parse refs/saved)
      git checkout-index -a -q
      mv "$GIT_DIR" "$1/restored-$part.git"
    done`;
  return {
    name,
    save: ({ source, store, n }) => time(save, [store, source, String(n)]),
    restore: ({ store, target, n }) => time(restore, [store, target, String(n)]),
  };
}

function tar(name: string, options: string, restoreAll: boolean): CheckpointTool {
  const restore = 'zstd -qdc "$1/stored/$n.tar.zst" | tar -C "$2" -xp --listed-incremental=/dev/null -f -';
  return {
    name,
    save: ({ source, store, n }) =>
      time(`tar -C "$2" --format=posix ${options} -cf - workspace home | zstd -q -3 -o "$1/stored/$3.tar.zst"`, [
        store,
        source,
        String(n),
      ]),
    restore: ({ store, target, n }) =>
      time(`for n in $(seq ${restoreAll ? 0 : '"$3"'} "$3"); do ${restore}; done`, [store, target, String(n)]),
  };
}

/** The tools. Those with `-files` leave out ignored files. */
export const tools: readonly CheckpointTool[] = [
  restic('restic', ''),
  restic('restic-files', withoutIgnored),
  borg('borg', ''),
  borg('borg-files', "--exclude='sh:workspace/node_modules'"),
  git('git', '-f'),
  git('git-files', ''),
  tar('tar', '', false),
  tar('tar-incremental', '--listed-incremental="$1/state"', true),
  tar('tar-incremental-files', `${withoutIgnored} --listed-incremental="$1/state"`, true),
];
