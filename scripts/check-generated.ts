// Regenerates the committed generated files. Fails if that changes one of them, or if git does not track one (`git
// diff` ignores a file that was never added).
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const files = ['schema.graphql', 'test/support/graphql-env.d.ts'];

const contents = () => files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
const committed = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', ...files], { encoding: 'utf8' }).split(
  '\n',
);

const before = contents();
execFileSync('npm', ['run', '--silent', 'generate'], { stdio: 'inherit' });
const after = contents();

const problems = files.flatMap((file, index) => {
  if (!committed.includes(file)) return [`${file} is not committed: git add it.`];
  if (before[index] !== after[index]) return [`${file} was out of date and has been generated again: commit it.`];
  return [];
});
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
