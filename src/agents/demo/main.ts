// The demo agent: a small, real ACP agent that needs no key. It runs plain commands in its workspace, listed in
// docs/agents.md. For any other prompt it demonstrates an agent at work.
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { runPrompt } from './commands.ts';
import { appendHistory, newSession, readHistory } from './history.ts';
import { createReporting, type Reporting } from './reporting.ts';
import { TurnCancelled } from './turn.ts';

interface Turn {
  readonly abort: AbortController;
}

const workspaces = new Map<string, string>();
const reportings = new Map<string, Reporting | null>();
/** The replies to prompts that come from the service alone, in order. */
const laterMessages = new Map<string, string[]>();
const turns = new Map<string, Turn>();
let canAsk = false;

function isPreface(block: acp.ContentBlock): boolean {
  return block.annotations?.audience?.includes('assistant') === true;
}

function shown(block: acp.ContentBlock): string {
  if (block.type === 'resource_link') return `[link] ${block.uri} (${block.name}, ${block.mimeType ?? 'unknown'})`;
  return block.type === 'text' ? `[${isPreface(block) ? 'preface' : 'user'}]\n${block.text}` : `[${block.type}]`;
}

const connection = acp
  .agent({ name: 'switchyard-demo' })
  .onRequest('initialize', ({ params }) => {
    canAsk = params.clientCapabilities?.elicitation?.form != null;
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: 'switchyard-demo', title: 'Demo agent', version: '0.1.0' },
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, close: {} } },
    };
  })
  .onRequest('session/new', ({ params }) => {
    const sessionId = newSession();
    workspaces.set(sessionId, params.cwd);
    reportings.set(sessionId, createReporting(params.mcpServers));
    return { sessionId };
  })
  .onRequest('session/load', async ({ params, client }) => {
    for (const update of readHistory(params.sessionId)) {
      await client.notify('session/update', { sessionId: params.sessionId, update });
    }
    workspaces.set(params.sessionId, params.cwd);
    reportings.set(params.sessionId, createReporting(params.mcpServers));
    return {};
  })
  .onRequest('session/resume', ({ params }) => {
    readHistory(params.sessionId);
    workspaces.set(params.sessionId, params.cwd);
    reportings.set(params.sessionId, createReporting(params.mcpServers ?? []));
    return {};
  })
  .onRequest('session/close', ({ params }) => {
    turns.get(params.sessionId)?.abort.abort();
    workspaces.delete(params.sessionId);
    return {};
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId } = params;
    const workspace = workspaces.get(sessionId);
    if (workspace === undefined) throw acp.RequestError.invalidParams({ sessionId }, 'There is no such session.');
    const abort = new AbortController();
    turns.set(sessionId, { abort });
    // Text from the service is not a command of the user.
    const prompt = params.prompt
      .flatMap((block) => (block.type === 'text' && !isPreface(block) ? [block.text] : []))
      .join('\n');
    appendHistory(sessionId, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: prompt } });
    const later = laterMessages.get(sessionId) ?? [];
    laterMessages.set(sessionId, later);
    try {
      await runPrompt({
        prompt,
        blocks: params.prompt.map(shown),
        reporting: reportings.get(sessionId) ?? null,
        later,
        workspace,
        canAsk,
        isUntitled: !readHistory(sessionId).some((update) => update.sessionUpdate === 'session_info_update'),
        sessionId,
        signal: abort.signal,
        client,
        async update(update) {
          appendHistory(sessionId, update);
          await client.notify('session/update', { sessionId, update });
        },
      });
      return { stopReason: abort.signal.aborted ? 'cancelled' : 'end_turn' };
    } catch (error) {
      if (abort.signal.aborted || error instanceof TurnCancelled) return { stopReason: 'cancelled' };
      throw error;
    } finally {
      turns.delete(sessionId);
    }
  })
  .onNotification('session/cancel', ({ params }) => {
    turns.get(params.sessionId)?.abort.abort();
  })
  .connect(
    acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );

// Without a client there is nothing to do: the end of stdin ends the process, whatever a command waits for.
connection.closed.then(
  () => process.exit(0),
  () => process.exit(1),
);
