import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { DemoTools, DemoTurn } from './turn.ts';

/**
 * Sends excessive output, bypassing the protocol's library, which would buffer it: `updates N`, `calls N` (of the
 * service's tools, without waiting for results), `line MB` (one message of that size), `output N` (a tool that
 * prints N lines, one every 20 ms, and resends its whole output with each).
 */
export async function flood(turn: DemoTurn, rest: string, say: DemoTools['say']): Promise<void> {
  const [what = '', amount = ''] = rest.split(' ');
  const count = Number.parseFloat(amount) || 1;
  const kind = Object.hasOwn(floods, what) ? floods[what] : undefined;
  if (!kind) return say(turn, `I do not know the flood "${what}".`);
  await kind(turn, count);
  await say(turn, `Sent ${what}: ${count}.`);
}

const floods: Record<string, (turn: DemoTurn, count: number) => Promise<void>> = {
  async updates(turn, count) {
    for (let n = 0; n < count; n++) {
      turn.signal.throwIfAborted();
      await put(turn, {
        sessionUpdate: 'tool_call',
        toolCallId: `flood-${n}`,
        title: `Flood ${n}`,
        status: 'completed',
      });
    }
  },
  async line(turn, megabytes) {
    const text = 'x'.repeat(megabytes * 1_048_576);
    const content = [{ type: 'content', content: { type: 'text', text } }];
    await put(turn, { sessionUpdate: 'tool_call', toolCallId: 'long', title: 'Long', status: 'completed', content });
  },
  async output(turn, count) {
    let text = '';
    const tool = { toolCallId: 'output', title: 'Print', kind: 'execute', status: 'in_progress' };
    await put(turn, { sessionUpdate: 'tool_call', ...tool });
    for (let n = 0; n < count; n++) {
      turn.signal.throwIfAborted();
      text += `line ${n}\n`;
      const content = [{ type: 'content', content: { type: 'text', text } }];
      await put(turn, { sessionUpdate: 'tool_call_update', ...tool, content });
      await wait(20);
    }
    await put(turn, { sessionUpdate: 'tool_call_update', ...tool, status: 'completed' });
  },
  async calls(turn, count) {
    if (!turn.reporting) throw new Error('The session has no MCP server.');
    await turn.reporting.flood(count, turn.signal);
  },
};

// Waits for a full pipe.
async function put({ sessionId }: DemoTurn, update: object): Promise<void> {
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } });
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}
