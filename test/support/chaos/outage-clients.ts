import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { call } from '../app.ts';
import { bootstrapToken } from '../server.ts';

/** The responses that clients got from the service. */
export interface Tally {
  /** The texts of acknowledged messages. */
  readonly acknowledged: Set<string>;
  /** Unsuccessful responses by status; 0: no response, as from a killed process. */
  readonly refused: Record<number, number>;
  /** The `performance.now()` of the last success. */
  lastSuccessAt: number;
  reconnections: number;
}

const send = `mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } userErrors { message } } }`;
const messages =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { body } } }';

/** Sends messages to any process, each with an idempotency key, and retries until it is acknowledged. */
export async function write(urls: readonly string[], id: string, tally: Tally, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const message = `${id} ${randomUUID()}`;
    const body = { query: send, variables: { input: { sessionId: id, body: message, idempotencyKey: randomUUID() } } };
    for (let tries = n; ; tries++) {
      const url = urls[tries % urls.length] as string;
      const answer = await call({ url }, bootstrapToken, 'POST', '/graphql', body).catch(() => null);
      if (answer?.status === 200 && answer.body.data?.sendMessage?.message) break;
      const status = answer === null ? 0 : answer.status === 200 ? 500 : answer.status;
      tally.refused[status] = (tally.refused[status] ?? 0) + 1;
      await wait(50 + Math.random() * 150);
    }
    tally.lastSuccessAt = performance.now();
    tally.acknowledged.add(message);
    await wait(20);
  }
}

/** Follows a session's messages without end, and continues at the last cursor after each interruption. `stop` ends it. */
export function subscribe(urls: readonly string[], id: string, tally: Tally): { bodies: string[]; stop(): void } {
  const bodies: string[] = [];
  let after: string | undefined;
  let isOver = false;
  let dispose: () => void = () => undefined;
  const follow = async () => {
    for (let n = 0; !isOver; n++) {
      const url = urls[n % urls.length] as string;
      const client = createClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: `Bearer ${bootstrapToken}` },
      });
      await new Promise<void>((resolve) => {
        dispose = () => {
          void client.dispose();
          resolve();
        };
        client.subscribe<{ sessionMessages: { cursor: string; node: { body: string } } }>(
          { query: messages, variables: { id, after } },
          {
            next: ({ data }) => {
              if (!data) return resolve();
              after = data.sessionMessages.cursor;
              bodies.push(data.sessionMessages.node.body);
            },
            error: () => resolve(),
            complete: () => resolve(),
          },
        );
      });
      void client.dispose();
      if (!isOver) tally.reconnections += 1;
      await wait(100);
    }
  };
  void follow();
  return {
    bodies,
    stop() {
      isOver = true;
      dispose();
    },
  };
}
