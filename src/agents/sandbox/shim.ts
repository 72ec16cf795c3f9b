// The first program in a sandbox without a network: it forwards ports of the sandbox's loopback to sockets of services,
// starts the agent, and ends with it. Arguments: PORT=SOCKET for each service, `--`, the agent's command.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const end = process.argv.indexOf('--');
const forwards = process.argv.slice(2, end).map((word) => {
  const [port, ...path] = word.split('=');
  return { port: Number(port), socketPath: path.join('=') };
});
const [program = '', ...args] = process.argv.slice(end + 1);

await Promise.all(
  forwards.map(async ({ port, socketPath }) => {
    const server = createServer((inner) => {
      const outer = connect(socketPath);
      inner.on('error', () => outer.destroy());
      outer.on('error', () => inner.destroy());
      inner.pipe(outer).pipe(inner);
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
  }),
);

const agent = spawn(program, args, { stdio: 'inherit' });
agent.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
agent.once('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => agent.kill(signal));
