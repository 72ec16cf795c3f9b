/**
 * The program that an agent starts as its MCP server: it connects its stdio to the worker's socket. It is passed to
 * node as text, so that the agent's environment needs nothing but node.
 */
const program = [
  "const socket = require('node:net').connect(process.argv[1]);",
  'process.stdin.pipe(socket).pipe(process.stdout);',
  "for (const stream of [socket, process.stdin, process.stdout]) stream.on('error', () => process.exit(1));",
  "socket.on('close', () => process.exit(0));",
].join('\n');

/** The command that connects to a socket; both paths are as the agent sees them. */
export function pipeCommand(nodeProgram: string, socketPath: string): { command: string; args: readonly string[] } {
  return { command: nodeProgram, args: ['-e', program, socketPath] };
}
