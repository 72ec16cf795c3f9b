import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// An ACP agent in a separate program, for tests of the sandbox: each prompt is the body of an asynchronous function, whose
// result it reports as JSON. It continues after its stdin ends, so that the next step of the stop sequence is visible.

const require = createRequire(import.meta.url);
const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: string[]
) => (...args: unknown[]) => unknown;

function put(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

async function inspect(body: string): Promise<string> {
  try {
    return JSON.stringify((await new AsyncFunction('require', body)(require)) ?? null);
  } catch (error) {
    return JSON.stringify({ failed: String((error as NodeJS.ErrnoException).code ?? error) });
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
  else if (method === 'session/prompt') {
    const text = await inspect(params.prompt[0].text);
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    put({ method: 'session/update', params: { sessionId: 's1', update } });
    put({ id, result: { stopReason: 'end_turn' } });
  }
});

process.on('SIGTERM', () => {
  require('node:fs').writeFileSync('terminated', '');
  process.exit(0);
});
setInterval(() => undefined, 60_000);
