import { agentOf, type Scenario, type UserMessage } from './scenarios.ts';
import type { ChaosService } from './service.ts';

const create = `mutation($input: CreateSessionInput!) { createSession(input: $input) {
  session { sessionId } userErrors { code message } } }`;
const send = `mutation($input: SendMessageInput!) { sendMessage(input: $input) {
  message { seq } userErrors { code message } } }`;
const terminate = `mutation($input: TerminateSessionInput!) { terminateSession(input: $input) {
  userErrors { code message } } }`;
const updated = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { status statusDetail } }';
const messages =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { seq body } } }';

interface Seen {
  readonly status: string;
  readonly statusDetail: string | null;
}

/** The final status of a session of this kind if nobody sends another message. */
const isOver = ({ status }: Seen) => status === 'EXIT' || status === 'ERROR';

/** Plays one scenario to its end. `onProgress` is called after each acknowledgement and each result. */
export async function play(
  service: ChaosService,
  scenario: Scenario,
  organizationId: string,
  onProgress: () => void,
): Promise<void> {
  const waitUntil = (isWanted: (session: Seen) => boolean) =>
    service.listen(
      updated,
      () => ({ id: scenario.id }),
      ({ sessionUpdated }) => (isWanted(sessionUpdated) ? (sessionUpdated as Seen) : null),
    );
  const recordAcknowledged = (message: UserMessage, seq: number | null) => {
    scenario.acknowledged.set(message.token, { seq });
    onProgress();
  };
  const sendMessage = async (message: UserMessage) => {
    const { text: body, idempotencyKey } = message;
    const data = await service.queryUntilAccepted(send, { input: { sessionId: scenario.id, body, idempotencyKey } });
    recordAcknowledged(message, data.sendMessage.message.seq);
  };

  const { first, more, kind, name } = scenario;
  const { idempotencyKey } = first;
  const agent = agentOf(kind);
  const input = { prompt: first.text, title: name, agent, organizationId, idempotencyKey };
  scenario.id = (await service.queryUntilAccepted(create, { input })).createSession.session.sessionId;
  recordAcknowledged(first, null);

  for (const { message, isAtOnce } of more) {
    if (!isAtOnce) await waitUntil(isOver);
    await sendMessage(message);
  }
  if (kind === 'asking') {
    // If the answer was lost with the agent, the question comes again, and the user answers again.
    for (let n = 1; ; n++) {
      const { status } = await waitUntil((seen) => isOver(seen) || seen.statusDetail === 'WAITING_FOR_USER');
      if (status !== 'RUNNING') break;
      const token = first.token.replace(/\d+$/, String(n));
      await sendMessage({ token, text: `say ${token}`, idempotencyKey: `${idempotencyKey}-${n}` });
    }
  }
  if (kind === 'terminated' || kind === 'sleeping') {
    await waitUntil((seen) => isOver(seen) || seen.statusDetail === 'WORKING');
    const path = `/v3/organizations/${organizationId}/sessions/${scenario.id}/archive`;
    if (kind === 'sleeping') await service.requestUntilAccepted('POST', path);
    else await service.queryUntilAccepted(terminate, { input: { sessionId: scenario.id } });
  }
  await waitUntil((seen) => isOver(seen) || seen.status === 'SUSPENDED');
  onProgress();
}

/** A message that a subscriber received. */
export interface Received {
  readonly seq: number;
  readonly body: string;
}

/** Follows a session's messages through all kills, each time from the last cursor; ends after the given number of messages. */
export function followMessages(
  service: ChaosService,
  id: string,
): { readonly received: readonly Received[]; waitFor(count: number): Promise<void> } {
  const received: Received[] = [];
  let after: string | undefined;
  let wanted = Number.POSITIVE_INFINITY;
  const all = service.listen(
    messages,
    () => ({ id, after }),
    ({ sessionMessages }) => {
      received.push(sessionMessages.node);
      after = sessionMessages.cursor;
      return received.length >= wanted ? true : null;
    },
  );
  all.catch(() => undefined);
  return {
    received,
    async waitFor(count) {
      wanted = count;
      if (received.length < count) await all;
    },
  };
}
