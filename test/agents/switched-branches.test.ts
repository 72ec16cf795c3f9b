import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { switchBranch } from '../../src/agents/sandbox/local/switch-branch.ts';
import { makeDirectory, plainGit } from '../support/git-forge.ts';

const from = 'switchyard/first-ab12cd';
const to = 'switchyard/second-ef34ab';

/** A workspace with a clone in `site` that is on the branch of another session. */
async function start({ isEmpty = false } = {}) {
  const workspace = await makeDirectory();
  const site = join(workspace, 'site');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: site, env: plainGit, encoding: 'utf8' }).trim();
  mkdirSync(site);
  git('init', '-q', '--template=', `--initial-branch=${from}`);
  if (!isEmpty) {
    writeFileSync(join(site, 'page'), 'x');
    git('add', 'page');
    git('commit', '-qm', 'Start');
  }
  writeFileSync(join(site, 'new'), 'not committed');
  return { workspace, site, git, run: () => switchBranch({ workspace, names: ['site'], from, to }) };
}

describe('the clone of a fork', () => {
  it.each(['loose', 'packed'])(
    'gets a branch at its commit, and keeps its index and files, with %s refs',
    async (kind) => {
      const { git, run } = await start();
      if (kind === 'packed') git('pack-refs', '--all');
      const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain')];
      await run();
      expect(git('branch', '--show-current')).toBe(to);
      expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual(before);
      expect(git('rev-parse', from)).toBe(before[0]);
      git('add', 'new');
      git('commit', '-qm', 'More');
      expect(git('log', '--format=%s', to)).toBe('More\nStart');
      expect(git('log', '--format=%s', from)).toBe('Start');
      git('fsck', '--strict');
    },
  );

  it('gets a branch before its first commit', async () => {
    const { git, run } = await start({ isEmpty: true });
    await run();
    expect(git('branch', '--show-current')).toBe(to);
  });

  it.each<[string, (git: (...args: string[]) => string) => void]>([
    ['is on another branch', (git) => git('switch', '-qc', 'other')],
    ['is on no branch', (git) => git('checkout', '-q', '--detach')],
    ['has a branch of that name', (git) => git('branch', to)],
    ['has a packed branch of that name', (git) => git('branch', to) + git('pack-refs', '--all')],
  ])('stays as it is if it %s', async (_, act) => {
    const { git, run } = await start();
    act(git);
    const before = [git('branch', '--show-current'), git('for-each-ref')];
    await run();
    expect([git('branch', '--show-current'), git('for-each-ref')]).toEqual(before);
  });

  it('stays as it is if a branch has the name of the directory', async () => {
    const { git, workspace, site } = await start();
    git('branch', '-m', 'first');
    git('branch', 'switchyard');
    await switchBranch({ workspace, names: ['site'], from: 'first', to });
    expect(git('branch', '--format=%(refname:short)')).toBe('first\nswitchyard');
    expect(readFileSync(join(site, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/first\n');
  });

  it.each(['.git', '.git/refs', '.git/refs/heads'])('writes nothing through a link as %s', async (path) => {
    const { workspace, site, run } = await start();
    renameSync(join(site, path), join(workspace, 'outside'));
    symlinkSync(join(workspace, 'outside'), join(site, path));
    await run();
    expect(existsSync(join(workspace, 'outside/heads/switchyard/second-ef34ab'))).toBe(false);
    expect(existsSync(join(workspace, 'outside/refs/heads/switchyard/second-ef34ab'))).toBe(false);
    expect(existsSync(join(workspace, 'outside/switchyard/second-ef34ab'))).toBe(false);
    expect(readFileSync(join(site, '.git/HEAD'), 'utf8')).toBe(`ref: refs/heads/${from}\n`);
  });
});
