import type { DemoTools, DemoTurn } from './turn.ts';

/**
 * Prints the value of a variable through all channels, and in many of the encodings, by which an agent may leak a
 * secret.
 */
export async function printEncodings(
  turn: DemoTurn,
  name: string,
  { say, tool }: Pick<DemoTools, 'say' | 'tool'>,
): Promise<void> {
  const value = process.env[name] ?? '(not set)';
  const base64 = [0, 1, 2].map((before) => Buffer.from(`${'-'.repeat(before)}${value} and more`).toString('base64'));
  const hex = Buffer.from(value).toString('hex');
  const encodings = [
    value,
    ...base64,
    Buffer.from(value).toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ value }).toString(),
    JSON.stringify({ value }),
    value.replaceAll(/.{5}/g, '$&\n  '),
  ];
  process.stderr.write(`${value}\n`);
  await turn.update({ sessionUpdate: 'session_info_update', title: `About ${value}` });
  await turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `So it is ${value}.` } });
  const entry = { content: `Say ${value}`, priority: 'medium' as const, status: 'pending' as const };
  await turn.update({ sessionUpdate: 'plan', entries: [entry] });
  await tool(turn, `echo ${value}`, 'execute', async () => encodings.join('\n'));
  // At the position where a tool's output is truncated, so that the value is split there.
  await tool(turn, 'Read much', 'read', async () => `${'x'.repeat(16_000 - Math.ceil(value.length / 2))}${value}`);
  await turn.update({
    sessionUpdate: 'tool_call',
    toolCallId: `spelled-${process.pid}-${value}`,
    title: 'Write a file',
    status: 'completed',
    locations: [{ path: `${turn.workspace}/${value}.txt` }],
    content: [{ type: 'diff', path: `${turn.workspace}/${value}.txt`, oldText: null, newText: `key: ${value}\n` }],
  });
  await say(turn, encodings.join('\n'));
}
