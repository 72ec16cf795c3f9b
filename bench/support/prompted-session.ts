import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from './bench.ts';
import { askOnce, graphqlRequest } from './http.ts';
import { nowMs } from './local-forge.ts';
import { mutate } from './mutate.ts';
import type { AgentTimes } from './prompted-agent.ts';

const document = `query($id: ID!) { session(id: $id) { status events(last: 50) { nodes { __typename
  ... on SessionMessage { type body } } } } }`;

/** Starts a session whose agent answers with its times. `ms`: from the request until the agent had its prompt. */
export async function startPrompted(
  server: Server,
  input: object,
): Promise<{ readonly sessionId: string; readonly ms: number }> {
  const from = nowMs();
  const { session } = await mutate(server, 'createSession', 'session { sessionId }', input);
  const sessionId = session.sessionId as string;
  for (;;) {
    await wait(100);
    const { data } = await askOnce(server.url, graphqlRequest(server.token, document, { id: sessionId }));
    const entries = data.session.events.nodes as { type?: string; body?: string }[];
    const answer = entries.find(({ type }) => type === 'AGENT_MESSAGE');
    if (answer !== undefined) {
      const { prompt, files } = JSON.parse(answer.body ?? '') as AgentTimes;
      if (files === 0) throw new Error('The agent started without the files of its repository.');
      return { sessionId, ms: prompt - from };
    }
    if (data.session.status === 'ERROR') throw new Error(`A session failed: ${JSON.stringify(entries)}`);
  }
}
