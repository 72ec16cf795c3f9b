// The first program in a sandbox without a network: it forwards a port of the sandbox's loopback to the gateway's
// socket, starts the agent, and ends with it. Arguments: port, socket, the agent's command.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [port, socketPath = '', program = '', ...args] = process.argv.slice(2);

const server = createServer((inner) => {
  const outer = connect(socketPath);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
  inner.pipe(outer).pipe(inner);
});

server.listen(Number(port), '127.0.0.1', () => {
  const agent = spawn(program, args, { stdio: 'inherit' });
  agent.once('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  agent.once('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => agent.kill(signal));
});
