/**
 * The program that an agent starts as its MCP server: a pipe between its stdio and the socket where the worker answers.
 * It is given to node as text, so that nothing but a node is needed where the agent runs.
 */
const program = [
  "const socket = require('node:net').connect(process.argv[1]);",
  'process.stdin.pipe(socket).pipe(process.stdout);',
  "for (const stream of [socket, process.stdin, process.stdout]) stream.on('error', () => process.exit(1));",
  "socket.on('close', () => process.exit(0));",
].join('\n');

/** How the pipe to a socket is started; the path is the one that the agent sees. */
export function pipeCommand(socketPath: string): { command: string; args: readonly string[] } {
  return { command: process.execPath, args: ['-e', program, socketPath] };
}
