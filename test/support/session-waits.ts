import { graphql, type TestApp } from './app.ts';
import { connect, follow } from './sockets.ts';

const sessionUpdated = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { status statusDetail title } }';

/** The time after which a wait fails, with what was seen last: shorter than the timeout of a test, which says nothing. */
const maxWaitMs = 150_000;

/** Resolves with the session once it matches, by subscription: no sleeping, no polling. Throws after {@link maxWaitMs}. */
export async function waitForSession(
  test: Pick<TestApp, 'url' | 'adminToken'>,
  id: string,
  isWanted: (session: { status: string; statusDetail: string | null; title: string }) => boolean,
): Promise<{ status: string; statusDetail: string | null; title: string }> {
  const following = follow(connect(test.url, test.adminToken), sessionUpdated, { id });
  let seen: unknown = null;
  const find = async () => {
    for (;;) {
      const [payload] = await following.take(1);
      const session = payload.data?.sessionUpdated;
      if (!session) throw new Error(JSON.stringify(payload));
      seen = session;
      if (isWanted(session)) return session;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const giveUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(async () => {
      const events = await readEvents(test, id).catch(String);
      reject(new Error(`Session ${id} does not match: ${JSON.stringify({ seen, events })}`));
    }, maxWaitMs);
  });
  try {
    return await Promise.race([find(), giveUp]);
  } finally {
    clearTimeout(timer);
    following.stop();
  }
}

/** Resolves once the session is over: `EXIT` or `ERROR`. */
export const waitUntilEnded = (test: Pick<TestApp, 'url' | 'adminToken'>, id: string) =>
  waitForSession(test, id, ({ status }) => status === 'EXIT' || status === 'ERROR');

/** Resolves once the agent waits for the user. */
export const waitUntilWaiting = (test: Pick<TestApp, 'url' | 'adminToken'>, id: string) =>
  waitForSession(test, id, ({ statusDetail }) => statusDetail?.startsWith('WAITING') === true);

/** Returns a session's messages as `type: body`, oldest first. */
export async function readMessages(test: Pick<TestApp, 'url' | 'adminToken'>, id: string): Promise<string[]> {
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { messages(first: 100) { nodes { type body } } } }',
    { id },
  );
  return data.session.messages.nodes.map(({ type, body }: { type: string; body: string }) => `${type}: ${body}`);
}

const toAcpName = (value: string | null | undefined) => value?.toLowerCase() ?? value;

/** Returns a session's events with their distinguishing fields; phases and reasons of turns and states of tools as ACP names them. */
export async function readEvents(test: Pick<TestApp, 'url' | 'adminToken'>, id: string): Promise<any[]> {
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { events(first: 100) { nodes { seq kind __typename
       ... on StatusEvent { status statusDetail } ... on TurnEvent { turn phase stopReason } ... on ToolCallEvent { title toolStatus output } } } } }`,
    { id },
  );
  return data.session.events.nodes.map((node: any) => ({
    ...node,
    ...('phase' in node && { phase: toAcpName(node.phase), stopReason: toAcpName(node.stopReason) }),
    ...('toolStatus' in node && { toolStatus: toAcpName(node.toolStatus) }),
  }));
}
