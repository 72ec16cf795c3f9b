import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedCommand } from './programs.ts';
import type { Script } from './scripted-agent.ts';
import { connect, type Following, follow } from './sockets.ts';

/** The subscription with everything that a client needs to show a session. */
export const sessionLive = `subscription($id: ID!, $after: String) { sessionLive(sessionId: $id, after: $after) { __typename
  ... on Draft { draftId kind toolCallId offset text isDone isTruncated }
  ... on SessionEventEdge { cursor node { seq kind ... on SessionMessage { body draftId } ... on ThoughtEvent { body draftId }
    ... on ToolCallEvent { toolCallId toolStatus output draftId } ... on TurnEvent { phase } } } } }`;

/** An item of {@link sessionLive}. */
export interface LiveItem {
  readonly __typename: 'Draft' | 'SessionEventEdge';
  readonly [name: string]: any;
}

/** The state of a client: the entries, and the open drafts. */
export class LiveView {
  readonly entries: any[] = [];
  readonly drafts = new Map<string, { kind: string; text: string; start: number; isDone: boolean }>();
  /** Every state of each draft that was ever shown. */
  readonly shown = new Map<string, { text: string; start: number }[]>();
  after: string | undefined;

  take(item: LiveItem): void {
    if (item.__typename === 'SessionEventEdge') {
      this.entries.push(item.node);
      this.after = item.cursor;
      const { draftId, toolStatus } = item.node;
      if (toolStatus === undefined || toolStatus === 'COMPLETED' || toolStatus === 'FAILED')
        this.drafts.delete(draftId);
      return;
    }
    const { draftId, kind, offset, text, isDone, isTruncated } = item;
    const before = this.drafts.get(draftId) ?? { text: '', start: 0 };
    if (!isTruncated && offset > before.start + before.text.length) throw new Error(`A gap: ${JSON.stringify(item)}`);
    const after = isTruncated
      ? { text, start: offset }
      : {
          text: before.text.slice(0, Math.max(0, offset - before.start)) + text,
          start: Math.min(before.start, offset),
        };
    this.drafts.set(draftId, { kind, isDone, ...after });
    this.shown.set(draftId, [...(this.shown.get(draftId) ?? []), after]);
  }

  /** Forgets the drafts, like a client that reconnects. */
  reconnect(): void {
    this.drafts.clear();
  }

  /** Throws unless every shown state of each draft is a part of its entry, at its position. */
  requireConsistent(): void {
    for (const { seq, draftId, body } of this.entries) {
      if (draftId == null || body === undefined) continue;
      for (const { text, start } of this.shown.get(draftId) ?? []) {
        if (!(body as string).startsWith(text, start)) {
          throw new Error(
            `The draft ${JSON.stringify({ text, start })} is no part of entry ${seq}: ${JSON.stringify(body)}`,
          );
        }
      }
    }
    this.entries.forEach(({ seq }, n) => {
      if (n > 0 && seq !== this.entries[n - 1].seq + 1) throw new Error(`${seq} follows ${this.entries[n - 1].seq}.`);
    });
  }
}

/** Follows a session live on a socket of its own. */
export function followLive(
  target: { readonly url: string },
  token: string,
  id: string,
  after?: string,
): Following<any> {
  return follow(connect(target.url, token), sessionLive, { id, after });
}

/** Takes items of a subscription into a view until the view satisfies a condition. */
export async function showUntil(
  view: LiveView,
  following: Pick<Following<any>, 'take'>,
  isEnough: (view: LiveView) => boolean,
): Promise<LiveView> {
  while (!isEnough(view)) {
    const [payload] = await following.take(1);
    if (!payload.data) throw new Error(JSON.stringify(payload));
    view.take(payload.data.sessionLive);
  }
  return view;
}

/** Returns a profile of an agent that follows a script. */
export function scriptedProfile(id: string, script: Script, settings: object = {}): Record<string, unknown> {
  const file = join(tmpdir(), `switchyard-live-${process.pid}-${id}.json`);
  writeFileSync(file, JSON.stringify(script));
  const own = { sandbox: { driver: 'none' }, mcp: false, warm_ttl_ms: 0, retry_delays_ms: [] };
  return { id, command: scriptedCommand(file), ...own, ...settings };
}

/** A chunk of a message, as a line of a script. */
export const messageChunk = (text: string): { update: object } => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
});

/** The steps of a prompt that streams chunks with a pause after each. */
export const streamOf = (chunks: readonly string[], sleepMs: number): Script[string] =>
  chunks.flatMap((text) => [{ write: [messageChunk(text)] }, { sleepMs }]);

/** The end of a prompt. */
export const endTurn: Script[string][number] = { write: [{ result: { stopReason: 'end_turn' } }] };
