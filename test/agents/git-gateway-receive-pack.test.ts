import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CommandListReader } from '../../src/agents/git-gateway/command-list.ts';
import { runGit } from '../support/git-agent.ts';
import { makeDirectory, plainGit } from '../support/git-forge.ts';
import { runs } from '../support/property-runs.ts';
import { pushStreams, readLikeGit, type SeenCommand } from '../support/push-streams.ts';

/** A pack without objects: the pushed ones exist already. */
const packHeader = Buffer.from('5041434b0000000200000000', 'hex');
const emptyPack = Buffer.concat([packHeader, createHash('sha1').update(packHeader).digest()]);
const zero = '0'.repeat(40);

/** Returns what the hook's input has besides these commands. Git leaves out commands that it refuses before the hook. */
function restOf(listed: string, commands: readonly SeenCommand[]): string {
  return commands.reduce((rest, { oldId, newId, ref }) => {
    const line = `${oldId} ${newId} ${ref}\n`;
    return rest.startsWith(line) ? rest.slice(line.length) : rest;
  }, listed);
}

it('reads the same commands as git receive-pack', { timeout: 3_600_000 }, async () => {
  const directory = await makeDirectory();
  const seen = join(directory, 'seen');
  const git = async (...args: string[]) => (await runGit(directory, args, plainGit)).stdout.trim();
  await git('init', '-q', '--bare', '.');
  for (const setting of ['receive.advertisePushOptions', 'receive.advertiseAtomic'])
    await git('config', setting, 'true');
  await git('config', 'receive.certNonceSeed', 'seed');
  const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const known = await Promise.all(['one', 'two'].map((text) => git('commit-tree', tree, '-m', text)));
  for (const [n, ref] of ['start', 'main'].entries()) await git('update-ref', `refs/heads/${ref}`, known[n] ?? '');
  await mkdir(join(directory, 'hooks'), { recursive: true });
  await writeFile(join(directory, 'hooks/pre-receive'), `#!/bin/sh\nexec cat >'${seen}' && false\n`);
  await chmod(join(directory, 'hooks/pre-receive'), 0o755);
  let compared = 0;
  const receive = (stream: Buffer) =>
    new Promise<string | null>((resolve) => {
      const child = execFile('git', ['receive-pack', '--stateless-rpc', '.'], { cwd: directory, env: plainGit }, () => {
        readFile(seen, 'latin1').then(resolve, () => resolve(null));
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(stream);
    });
  await fc.assert(
    fc.asyncProperty(pushStreams({ known }), async (head) => {
      await rm(seen, { force: true });
      const reader = new CommandListReader({ maxCommands: 100, maxHeadBytes: 65_536 });
      reader.take(head);
      const found = reader.end();
      // Streams that the gateway refuses are of interest too: git must not see commands that the model does not.
      const listed = await receive(Buffer.concat([head, emptyPack]));
      if (listed === null) return;
      const model = readLikeGit(head)?.commands ?? [];
      expect(restOf(listed, model)).toBe('');
      if (found.type === 'invalid') return;
      compared += 1;
      const ours = found.commands.map(({ oldId, newId, ref }) => ({ oldId: oldId ?? zero, newId: newId ?? zero, ref }));
      expect(restOf(listed, ours)).toBe('');
    }),
    runs(60),
  );
  expect(compared).toBeGreaterThan(5);
});
