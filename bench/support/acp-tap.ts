// Runs an agent, forwards its stdin and stdout, and writes the time and the text of each chunk of a message to a file, before the
// service gets it. Arguments: the file, and the agent's command.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A line of the file. */
export interface TappedChunk {
  /** Time by the monotonic clock of the machine, in nanoseconds. */
  readonly at: string;
  readonly text: string;
}

interface Message {
  readonly params?: {
    readonly update?: { readonly sessionUpdate?: string; readonly content?: { readonly text?: string } };
  };
}

const [, , file = '', command = '', ...args] = process.argv;
const written = createWriteStream(file, { flags: 'a' });
const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(agent.stdin);
createInterface({ input: agent.stdout }).on('line', (line) => {
  if (line.includes('agent_message_chunk')) {
    const at = process.hrtime.bigint();
    const text = (JSON.parse(line) as Message).params?.update?.content?.text ?? '';
    written.write(`${JSON.stringify({ at: String(at), text } satisfies TappedChunk)}\n`);
  }
  process.stdout.write(`${line}\n`);
});
agent.once('exit', (code) => process.exit(code ?? 1));
process.once('SIGTERM', () => agent.kill('SIGTERM'));
