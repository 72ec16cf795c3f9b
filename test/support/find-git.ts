import { spawnSync } from 'node:child_process';

/** The files whose tests run `git` and its HTTP server, `git http-backend`. */
const gitTests = [
  'test/agents/git-clones.test.ts',
  'test/agents/git-gateway*.test.ts',
  'test/agents/git-hostile-repositories.test.ts',
  'test/agents/git-mirrors.test.ts',
  'test/agents/sandbox-repositories.test.ts',
  'test/console/session-repositories.test.ts',
  'test/forges/git-https.test.ts',
  'test/system/{git-identity,hostile-repositories,pull-requests-of-agents,session-repositories}.test.ts',
];

/** Returns the files to leave out because git is missing here, after a line about it. Throws on CI, where git must exist. */
export function filesWithoutGit(): readonly string[] {
  // Without a request, the program ends with an error of its own; `git` alone, without the program, says that it is no command.
  const { stdout, error } = spawnSync('git', ['http-backend'], { encoding: 'utf8' });
  if (error === undefined && stdout.includes('Status:')) return [];
  const message = 'There is no git with git http-backend in PATH: install the package git.';
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`Skipping the tests of repositories. ${message}\n`);
  return gitTests;
}
