import { execFile } from 'node:child_process';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { connectGitForge } from '../support/connected-forge.ts';
import { echoAgent } from '../support/echo-agent.ts';
import { makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const run = promisify(execFile);

let test: TestApp;
beforeAll(async () => {
  const echo = { command: [process.execPath, '-e', echoAgent], sandbox: 'none' };
  const agentsConfig = await writeProfiles(
    {},
    { id: 'reader', instructions: 'agent', ...echo },
    { id: 'other', instructions: 'service', ...echo },
  );
  test = await startApp({ roles: ['api', 'worker'], isHttpForgeAllowed: true, agentsConfig });
});
afterAll(() => test?.close());

/** Serves repositories, whose working copies `change` changes, and permits the organization to use them. */
async function serve(changes: Readonly<Record<string, (directory: string) => Promise<unknown>>>): Promise<string> {
  const forge = await startGitForge();
  for (const [path, change] of Object.entries(changes)) {
    await forge.addRepository(path);
    const work = await makeDirectory();
    const git = (...args: string[]) => run('git', args, { cwd: work, env: plainGit });
    await git('clone', '-q', forge.directoryOf(path), '.');
    await change(work);
    await git('add', '-A');
    await git('commit', '-qm', 'Instruct agents', '--allow-empty');
    await git('push', '-q', 'origin', 'main');
    await connectGitForge(test, forge, path);
  }
  return forge.host;
}

const marker = '# Instructions of the repository';
async function promptOf(agent: string, repositories: readonly string[]): Promise<string> {
  const named = repositories.map((repository) => ({ repository }));
  const id = await createSession(test, { agent, prompt: 'Go', repositories: named });
  await waitUntilEnded(test, id);
  return (await readMessages(test, id)).at(-1) ?? '';
}

it('gives AGENTS.md to an agent that does not read it, marked as the repository’s, and leaves it to one that does', async () => {
  const host = await serve({
    'acme/site': (directory) => writeFile(join(directory, 'AGENTS.md'), 'Use tabs.\u001b[31m\n'),
  });
  const prompt = await promptOf('other', [`${host}/acme/site`]);
  expect(prompt).toContain(marker);
  expect(prompt).toContain(`## ${host}/acme/site\n\nUse tabs. [31m\n\n`);
  expect(prompt.endsWith('\n\nGo')).toBe(true);
  expect(await promptOf('reader', [`${host}/acme/site`])).not.toContain('Use tabs.');
});

it('gives the files of several repositories to every agent, up to a size, and none from a directory below', async () => {
  const host = await serve({
    'acme/first': (directory) => writeFile(join(directory, 'AGENTS.md'), `Begin ${'é'.repeat(20_000)}`),
    'acme/second': (directory) => writeFile(join(directory, 'AGENTS.md'), 'Too late.'),
    'acme/third': async (directory) => {
      await run('mkdir', [join(directory, 'src')]);
      await writeFile(join(directory, 'src/AGENTS.md'), 'Nested.');
    },
  });
  const prompt = await promptOf(
    'reader',
    ['first', 'second', 'third'].map((name) => `${host}/acme/${name}`),
  );
  const [, text = ''] = /Begin (é+)\n\n\(The file goes on/.exec(prompt) ?? [];
  expect(Buffer.byteLength(text)).toBeGreaterThan(32_700);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1_024);
  expect(prompt).not.toMatch(/Too late|Nested/);
});

it('follows no link out of the workspace, and reads no more than the limit of a huge file', async () => {
  const host = await serve({
    'acme/link': (directory) => symlink('/etc/passwd', join(directory, 'AGENTS.md')),
    'acme/up': (directory) => symlink('../../../../../../etc/passwd', join(directory, 'AGENTS.md')),
    'acme/loop': (directory) => symlink('AGENTS.md', join(directory, 'AGENTS.md')),
    'acme/inside': (directory) => symlink('README.md', join(directory, 'AGENTS.md')),
    'acme/huge': async (directory) => {
      await writeFile(join(directory, 'AGENTS.md'), 'Huge.');
      await truncate(join(directory, 'AGENTS.md'), 52_428_800);
    },
  });
  for (const name of ['link', 'up', 'loop']) {
    const prompt = await promptOf('other', [`${host}/acme/${name}`]);
    expect(prompt).not.toMatch(/root:|Instructions of the repository/);
  }
  expect(await promptOf('other', [`${host}/acme/inside`])).toContain('\n\n# Site\n\n');
  const huge = await promptOf('other', [`${host}/acme/huge`]);
  expect(huge).toMatch(/Huge\.\s*\(The file goes on/);
  expect(huge.length).toBeLessThan(60_000);
});

it('gives the notes that are pinned to the session’s repository, before others, whatever the message says', async () => {
  const host = await serve({ 'acme/noted': async () => undefined });
  const note = (name: string, pinnedRepo: string, size: number) =>
    runMutation(test, 'createKnowledgeNote', 'knowledgeNote { id }', {
      ...{ scope: { organizationId: test.organizationId }, name, trigger: 'Always', pinnedRepo },
      body: `${name}: ${'x'.repeat(size)}`,
    });
  await note('By path', 'ACME/Noted', 20_000);
  await note('By host', `${host}/acme/noted`, 10);
  await note('Of all', 'all', 10_000);
  await note('Elsewhere', 'acme/other', 10);
  await note('Of another host', 'git.test/acme/noted', 10);
  const prompt = await promptOf('other', [`${host}/acme/noted`]);
  for (const name of ['By path', 'By host']) expect(prompt).toContain(`## ${name}\n\nWhen: Always`);
  // They have taken the space for full notes.
  for (const name of ['Of all', 'Elsewhere', 'Of another host']) expect(prompt).toContain(`- ${name} — Always (note-`);
});
