import type { DemoTools, DemoTurn } from './turn.ts';

/** The demonstration for any prompt: sets a title and a plan, writes and lists a file, and summarizes the work. */
export async function showWork(
  turn: DemoTurn,
  { say, tool, writeInWorkspace, listWorkspace }: DemoTools,
): Promise<void> {
  const wish = (turn.prompt.trim().split('\n')[0] ?? '').slice(0, 200);
  const file = wish.match(/[\w-]+\.(?:txt|md|json|js|ts|py|html|css)\b/)?.[0] ?? 'notes.md';
  const steps = ['Read the request', `Write ${file}`, 'Look at the result'];
  const plan = (done: number) =>
    turn.update({
      sessionUpdate: 'plan',
      entries: steps.map((content, n) => ({
        content,
        priority: 'medium',
        status: n < done ? 'completed' : n === done ? 'in_progress' : 'pending',
      })),
    });
  if (turn.isUntitled) {
    await turn.update({ sessionUpdate: 'session_info_update', title: `Demo: ${wish.slice(0, 60)}` });
  }
  await turn.update({
    sessionUpdate: 'agent_thought_chunk',
    content: { type: 'text', text: 'No model is behind me; I will show the steps.' },
  });
  await plan(0);
  await say(
    turn,
    `You asked: “${wish}”. I am the demo agent: I have no model, but I do have a workspace, so I will leave a file there.`,
  );
  await plan(1);
  await writeInWorkspace(turn, file, `Switchyard's demo agent was here.\nIt was asked: ${wish}`);
  await plan(2);
  const listing = await tool(turn, 'List files', 'read', () => listWorkspace(turn.workspace));
  await plan(3);
  await turn.update({ sessionUpdate: 'usage_update', used: turn.prompt.length, size: 100_000 });
  await say(
    turn,
    `Done. The workspace now holds: ${listing.split('\n').join(', ')}. To let a real agent work here, install one in the settings, under Agents, and add a key of a model provider.`,
  );
}
