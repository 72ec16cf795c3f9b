import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalWorkspaces } from '../../../src/agents/sandbox/local/local-workspaces.ts';
import { clearLeftSecrets } from '../../../src/domain/execution/runs/left-secrets.ts';

const makeDataDir = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-left-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const sessionDir = (id: string) => join(dataDir, 'sessions', id, 'ws', '.session');
  return {
    dataDir,
    sessionDir,
    leave(id: string, ...names: string[]) {
      mkdirSync(join(sessionDir(id), 'secrets'), { recursive: true });
      for (const name of names) writeFileSync(join(sessionDir(id), 'secrets', name), 'sid=c4n4ry');
    },
    left: (id: string) => readdirSync(join(sessionDir(id), 'secrets')),
  };
};
const [held, over, linked, without] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];
const isLeased = (id: string) => id === held;

it('deletes the secrets of every session that is not leased, including drafts and links, and follows no link', async () => {
  const { dataDir, sessionDir, leave, left } = makeDataDir();
  leave(held, 'jar');
  leave(over, 'jar', '.draft');
  const elsewhere = join(dataDir, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'kept'), '');
  symlinkSync(join(elsewhere, 'kept'), join(sessionDir(over), 'secrets', 'link'));
  mkdirSync(sessionDir(linked), { recursive: true });
  symlinkSync(elsewhere, join(sessionDir(linked), 'secrets'));
  mkdirSync(join(dataDir, 'sessions', without));
  expect(await clearLeftSecrets(createLocalWorkspaces(dataDir), { isLeased, isClaiming: false })).toBe(3);
  expect([left(held), left(over), readdirSync(elsewhere)]).toEqual([['jar'], [], ['kept']]);
  expect(readdirSync(join(dataDir, 'sessions', without))).toEqual([]);
});

it('keeps new files while sessions are resumed, whatever time their content has', async () => {
  const { dataDir, sessionDir, leave, left } = makeDataDir();
  leave(over, 'jar');
  utimesSync(join(sessionDir(over), 'secrets', 'jar'), 0, 0);
  expect(await clearLeftSecrets(createLocalWorkspaces(dataDir), { isLeased, isClaiming: true })).toBe(0);
  expect(left(over)).toEqual(['jar']);
});

it('does nothing if no session has run', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-left-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  expect(await clearLeftSecrets(createLocalWorkspaces(dataDir), { isLeased, isClaiming: false })).toBe(0);
});
