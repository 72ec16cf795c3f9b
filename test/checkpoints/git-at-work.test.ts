import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { restoreCheckpoint } from '../../src/checkpoints/restore/restore-checkpoint.ts';
import { SessionSaver } from '../../src/checkpoints/save/session-saver.ts';
import { createSaveFixture, type SaveFixture } from '../support/save-fixture.ts';

let fixture: SaveFixture;
let saver: SessionSaver;
beforeEach(() => {
  fixture = createSaveFixture();
  saver = new SessionSaver({ ...fixture, from: null });
  git('init', '-q', '-b', 'main', '--template=');
  commit();
});
afterEach(() => fixture.remove());

function gitIn(cwd: string, ...args: string[]): string {
  const settings = ['user.name=A', 'user.email=a@example.com', 'gc.auto=0'].flatMap((one) => ['-c', one]);
  const env = { PATH: process.env.PATH, HOME: fixture.dir, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...settings, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

const git = (...args: string[]) => gitIn(fixture.directories.workspace, ...args);

function commit(): void {
  appendFileSync(join(fixture.directories.workspace, 'file'), 'line\n');
  git('add', 'file');
  git('commit', '-q', '-m', 'Add a line');
}

/** Saves while `work` runs at each point at which other processes could, and restores the saved state. Returns its workspace. */
async function saveAndRestore(name: string, work: () => void = () => undefined): Promise<string> {
  const saved = await saver.save({
    withIgnored: false,
    pause: () => {
      work();
      return null;
    },
  });
  if (saved === null) throw new Error('Nothing was saved.');
  fixture.upload(saved);
  saver.commit();
  const inside = (one: string) => join(fixture.dir, name, one);
  const directories = { workspace: inside('ws'), home: inside('home'), records: inside('records') };
  const { key, segments } = fixture;
  const { signal } = new AbortController();
  await restoreCheckpoint({
    directories,
    content: saved.content,
    key,
    segments,
    spoolDir: inside('spool'),
    owner: null,
    signal,
  });
  return directories.workspace;
}

it('leaves out the locks and drafts of a process of git that runs', async () => {
  git('init', '-q', '--bare', '--template=', 'bare.git');
  const [first] = git('rev-parse', 'HEAD:file').match(/^../) as RegExpMatchArray;
  const remnants = [
    ...['index', 'HEAD', 'config', 'packed-refs', 'shallow', 'refs/heads/main'].map((path) => `.git/${path}.lock`),
    `.git/objects/${first}/tmp_obj_a1`,
    '.git/objects/pack/tmp_pack_a1',
    'bare.git/refs/heads/main.lock',
  ];
  const kept = ['yarn.lock', '.git/hooks/tool.lock'];
  mkdirSync(join(fixture.directories.workspace, '.git/hooks'));
  for (const path of [...remnants, ...kept]) writeFileSync(join(fixture.directories.workspace, path), '');
  const restored = await saveAndRestore('restored');
  expect(remnants.filter((path) => existsSync(join(restored, path)))).toEqual([]);
  expect(kept.filter((path) => existsSync(join(restored, path)))).toEqual(kept);
  gitIn(restored, 'commit', '-q', '--allow-empty', '-m', 'Go on');
  gitIn(restored, 'branch', '-m', 'renamed');
});

it('keeps a repository complete in which git works at each moment of the save', { timeout: 240_000 }, async () => {
  let branches = 0;
  const steps = [
    commit,
    () => git('branch', `branch-${++branches}`),
    () => git('pack-refs', '--all'),
    commit,
    () => git('repack', '-q', '-d'),
  ];
  for (const round of [1, 2]) {
    const head = git('rev-parse', 'HEAD');
    const before = git('for-each-ref', '--format=%(refname)').split('\n');
    let pauses = 0;
    let repacks = 0;
    const restored = await saveAndRestore(`round-${round}`, () => {
      pauses++;
      if (pauses > 120 || pauses % 2 === round % 2) return;
      (steps[Math.floor(pauses / 2) % steps.length] as () => void)();
      // Each of them may make one attempt in vain.
      if (pauses % 40 === 0 && repacks++ < 2) git('repack', '-q', '-a', '-d');
    });
    expect(pauses).toBeGreaterThan(10);
    gitIn(restored, 'fsck', '--connectivity-only');
    gitIn(restored, 'status', '--porcelain');
    gitIn(restored, 'merge-base', '--is-ancestor', head, 'HEAD');
    expect(gitIn(restored, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual(expect.arrayContaining(before));
    gitIn(restored, 'commit', '-q', '--allow-empty', '-m', 'Go on');
  }
});
