import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { printReport } from '../../../src/agents/check/print-report.ts';
import { findPrograms } from '../../../src/agents/programs/find-programs.ts';
import { findInstalled } from '../../../src/agents/programs/program-directory.ts';

const versions: [string, boolean][] = [
  ['1.18.33', true],
  ['2.0.0-rc.1+build.5', true],
  ['1.0\u001b]0;title\u0007', false],
  ['1.0\n* forged line', false],
  ['1.0.0\n', false],
  ['1.0\u202e0.1', false],
  [`1.${'0'.repeat(63)}`, false],
  ['latest', false],
];

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'programs-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it.each(versions)('takes the version %j from a package of PATH only if it is one', async (version, isVersion) => {
  const path = makeDirectory();
  writeFileSync(join(path, 'opencode'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'opencode-ai', version }));
  const found = await findPrograms({ agentsDir: join(path, 'none'), path });
  expect(found.get('opencode')).toMatchObject({ source: 'PATH', version: isVersion ? version : null });
});

it.each(versions)('takes an installation of the version %j only if it is one', async (version, isVersion) => {
  const agentsDir = makeDirectory();
  mkdirSync(join(agentsDir, 'opencode/1'), { recursive: true });
  writeFileSync(join(agentsDir, 'opencode/1/it'), '');
  const current = { directory: '1', version, program: 'it' };
  writeFileSync(join(agentsDir, 'opencode/current.json'), JSON.stringify(current));
  expect((await findInstalled(agentsDir, 'opencode'))?.version).toBe(isVersion ? version : undefined);
});

it('prints no control characters of an agent', () => {
  const report = {
    id: 'x',
    command: ['x'],
    sandbox: 'none',
    failure: 'It said: \u001b[2J\u0007\u202ebye\nnow',
    protocolVersion: null,
  };
  const text = printReport(report as unknown as Parameters<typeof printReport>[0]);
  expect(text).toContain('It said:  [2J bye\nnow');
});
