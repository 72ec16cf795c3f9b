import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { plainGit } from '../../test/support/forges/git-backend.ts';

/** Change it with the content: an earlier repository is not used again. */
const version = 1;

/** The files of the tree, and the commits of `main`; each changes some of the files. */
export const treeFiles = 5_000;
const commits = 4_000;
const changesEach = 10;
/** The characters that a change replaces. */
const changeLength = 12_000;
/** Further branches and tags, as a team has them. */
const otherRefs = 40;

/**
 * Returns the path of a bare repository of about 100 MB: a tree of 5,000 text files, with the history of 40,000 changes. The
 * texts are those of installed packages. It is made once, and kept in the temporary folder.
 */
export async function ensureRepository(onProgress: (text: string) => void): Promise<string> {
  const path = join(tmpdir(), `switchyard-bench-repository-${version}.git`);
  if (await stat(path).catch(() => null)) return path;
  onProgress('  the repository is made, which takes a minute');
  const made = `${path}.${process.pid}`;
  await rm(made, { recursive: true, force: true });
  await mkdir(made);
  const git = (...args: string[]) => execFileSync('git', ['-C', made, ...args], { env: plainGit, stdio: 'pipe' });
  git('init', '-q', '--bare', '-b', 'main');
  const child = spawn('git', ['-C', made, 'fast-import', '--quiet'], {
    env: plainGit,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await writeHistory(child, child.stdin as Writable, await readTexts());
  // As forges serve it: one pack, with a bitmap of what each branch contains.
  git('repack', '-q', '-a', '-d', '--write-bitmap-index');
  git('pack-refs', '--all');
  await rename(made, path);
  return path;
}

/** Returns the texts of the source files of installed packages, by their paths. */
async function readTexts(): Promise<[path: string, text: string][]> {
  const names = await readdir('node_modules', { recursive: true });
  const texts: [string, string][] = [];
  for (const name of names.sort()) {
    if (!/^[\w./@-]+\.(?:[cm]?js|ts|md|json)$/.test(name)) continue;
    const path = join('node_modules', name);
    const found = await stat(path);
    if (found.isFile() && found.size > 1_500 && found.size < 100_000)
      texts.push([`packages/${name}`, await readFile(path, 'utf8')]);
  }
  if (texts.length < treeFiles) throw new Error('Too few packages are installed for the repository.');
  return texts;
}

async function writeHistory(child: ChildProcess, input: Writable, texts: [string, string][]): Promise<void> {
  const random = createRandom();
  const below = (limit: number) => Math.floor(random() * limit);
  for (let n = texts.length - 1; n > 0; n--) {
    const other = below(n + 1);
    [texts[n], texts[other]] = [texts[other], texts[n]] as [[string, string], [string, string]];
  }
  const ended = once(child, 'close');
  const write = async (text: string) => {
    if (!input.write(text)) await Promise.race([once(input, 'drain'), ended]);
  };
  const changed: number[][] = Array.from({ length: commits }, () =>
    Array.from(new Set(Array.from({ length: changesEach }, () => below(treeFiles)))),
  );
  const changesOf = Array.from({ length: treeFiles }, () => 0);
  for (const file of changed.flat()) changesOf[file] = (changesOf[file] ?? 0) + 1;
  let mark = 0;
  /** The marks of each file's versions, the oldest last. */
  const versions: number[][] = [];
  for (let file = 0; file < treeFiles; file++) {
    let text = texts[file]?.[1] ?? '';
    const marks: number[] = [];
    // The newest version first: git stores it whole, and the older ones as differences.
    for (let n = changesOf[file] ?? 0; n >= 0; n--) {
      mark += 1;
      marks.push(mark);
      await write(`blob\nmark :${mark}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
      const source = texts[below(texts.length)]?.[1] ?? '';
      const [at, from] = [below(text.length), below(Math.max(1, source.length - changeLength))];
      text = text.slice(0, at) + source.slice(from, from + changeLength) + text.slice(at + changeLength);
    }
    versions.push(marks);
  }
  const change = (file: number) => `M 100644 :${versions[file]?.pop()} ${texts[file]?.[0]}\n`;
  const head = (n: number, subject: string) =>
    `commit refs/heads/main\ncommitter Ada <ada@example.com> ${1_700_000_000 + n * 3_600} +0000\ndata ${subject.length}\n${subject}\n`;
  await write(head(0, 'Start'));
  for (let file = 0; file < treeFiles; file++) await write(change(file));
  for (const [n, files] of changed.entries()) {
    await write(head(n + 1, `Change number ${n + 1} of the packages`) + files.map(change).join(''));
    const every = Math.floor(commits / otherRefs);
    if (n % every === 0) {
      const name = (n / every) % 2 === 0 ? `heads/work-${n}` : `tags/v${n}`;
      await write(`reset refs/${name}\nfrom refs/heads/main\n\n`);
    }
  }
  input.end('done\n');
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import failed with ${code}.`);
}

// The same numbers in each run: mulberry32.
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let n = Math.imul(state ^ (state >>> 15), 1 | state);
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n;
    return ((n ^ (n >>> 14)) >>> 0) / 4_294_967_296;
  };
}
