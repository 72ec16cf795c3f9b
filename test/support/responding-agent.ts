import { readyEntries } from '../../src/agents/profiles/ready.ts';

// An ACP agent that does what follow-ups ask for. It gives all other prompts to the demo agent as they are, and instead of a follow-up the
// commands that satisfy it. It rebases by itself.
const program = `
  const { spawn, spawnSync } = require('node:child_process');
  const child = spawn(process.argv[1], process.argv.slice(2), { stdio: ['pipe', 'inherit', 'inherit'] });
  child.on('exit', (code) => process.exit(code ?? 1));
  const rebase = 'git fetch -q origin develop && git rebase -q -X theirs FETCH_HEAD && git push -q --force origin HEAD';
  let cwd;
  function commandsFor(text) {
    if (/^The checks? .+ failed on the pull request/m.test(text)) return ['write app.txt fixed', 'commit Fix the check', 'push'];
    if (/requested changes/.test(text)) {
      const ids = [...text.matchAll(/^Comment (\\d+) by /gm)].map(([, id]) => id);
      const reply = (comment) => 'mcp reply_to_comment ' + JSON.stringify({ comment, body: 'Done.', resolve: true });
      return ['write app.txt reviewed', 'commit Follow the review', 'push', ...ids.map(reply)];
    }
    if (!/conflicts with its base branch/.test(text)) return null;
    const { stderr, status } = spawnSync('sh', ['-ec', rebase], { cwd, encoding: 'utf8' });
    return ['say ' + (status === 0 ? 'It is rebased.' : stderr.replaceAll('\\n', ' '))];
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (/^session\\/(new|load)$/.test(message.method)) cwd = message.params.cwd;
    if (message.method === 'session/prompt') {
      const last = message.params.prompt.at(-1);
      const commands = commandsFor(last.text);
      if (commands) last.text = [...commands, 'mcp finish_session {}'].join('\\n');
    }
    child.stdin.write(JSON.stringify(message) + '\\n');
  }).on('close', () => child.stdin.end());
`;

/** The profile of an agent that does what follow-ups ask for: it corrects, answers comments, resolves their threads, and rebases. */
export function respondingAgentProfile(id: string): Record<string, unknown> {
  const demo = (readyEntries.demo?.command ?? []) as readonly string[];
  return { id, command: [process.execPath, '-e', program, ...demo], sandbox: 'none', 'memory_mb': 100 };
}
