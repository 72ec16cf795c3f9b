// npm run test:changed: the tests that most likely fail for what has changed since main. See CONTRIBUTING.md.
import { execFileSync, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { changedTests } from './changed-tests.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: 'main' }, list: { type: 'boolean', default: false } },
});

const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .filter(Boolean);

const changed = () => {
  const [base] = git('merge-base', 'HEAD', values.base);
  return [...git('diff', '--name-only', base ?? 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
};

const files = git('ls-files', '--cached', '--others', '--exclude-standard');
const tests = changedTests(process.cwd(), files, positionals.length > 0 ? positionals : changed());
process.stdout.write(`${tests.length} test files are selected.\n${tests.map((test) => `  ${test}\n`).join('')}`);
if (!values.list && tests.length > 0) {
  const { status } = spawnSync('npx', ['vitest', 'run', ...tests], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
