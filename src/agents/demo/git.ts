import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { DemoTools, DemoTurn } from './turn.ts';

const run = promisify(execFile);

/** Git, as a tool call, in the directory where the agent starts: the clone if the session has one repository. */
async function git({ tool }: Pick<DemoTools, 'tool'>, turn: DemoTurn, title: string, commands: readonly string[][]) {
  await tool(turn, title, 'execute', async () => {
    const outputs: string[] = [];
    for (const args of commands) {
      const { stdout, stderr } = await run('git', args, { cwd: turn.workspace, signal: turn.signal }).catch(explain);
      outputs.push(stdout, stderr);
    }
    return outputs.join('').trim() || 'Done.';
  });
}

// The error of a failed command has the command line; git's own text tells more.
function explain(error: Error & { readonly stdout?: string; readonly stderr?: string }): never {
  throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`.trim() || error.message);
}

/** Commits all changes. */
export const commit = (tools: Pick<DemoTools, 'tool'>, turn: DemoTurn, message: string): Promise<void> =>
  git(tools, turn, 'Commit', [
    ['add', '--all'],
    ['commit', '--message', message],
  ]);

/** Pushes the current branch. */
export const push = (tools: Pick<DemoTools, 'tool'>, turn: DemoTurn): Promise<void> =>
  git(tools, turn, 'Push', [['push', '--set-upstream', 'origin', 'HEAD']]);
