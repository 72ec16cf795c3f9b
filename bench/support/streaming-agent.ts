// An agent that streams a message: a chunk with its send time at each interval. Its prompt is `stream EVERY_MS FOR_MS`.
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly prompt?: readonly { readonly text?: string }[] };
}

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function stream(id: number | undefined, everyMs: number, forMs: number): void {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const text = `sent:${process.hrtime.bigint()}; and some words of a message. `;
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    send({ method: 'session/update', params: { sessionId: 's', update } });
    if (performance.now() - startedAt < forMs) return;
    clearInterval(timer);
    send({ id, result: { stopReason: 'end_turn' } });
  }, everyMs);
}

const results: Record<string, object> = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  'session/new': { sessionId: 's' },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method = '', params } = JSON.parse(line) as Message;
  if (method !== 'session/prompt') {
    if (id !== undefined) send({ id, result: results[method] ?? {} });
    return;
  }
  const text = (params?.prompt ?? []).map((block) => block.text ?? '').join('\n');
  const [, everyMs, forMs] = /stream (\d+) (\d+)/.exec(text) ?? [];
  stream(id, Number(everyMs), Number(forMs));
});
