import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { chromium as driver, type Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { chromium } from '../test/support/browser.ts';
import { ensureConsole } from '../test/support/built.ts';
import { startFakeLlm } from '../test/support/fake-llm/fake-llm.ts';
import { findOpencode } from '../test/support/real-agents.ts';
import type { TappedChunk } from './support/acp-tap.ts';
import type { Bench, Server } from './support/bench.ts';
import { openConsole } from './support/console-page.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import type { Row } from './support/measures.ts';

/** The rows of this file. */
export const opencodeRows = [
  'live/opencode-one-process',
  'live/opencode-two-processes',
  'live/opencode-console',
] as const;

/** The model's answer: this many tokens, with this time between them. */
const tokens = 400;
const tokenMs = 50;
const apiKey = 'key-of-the-fake-model';
const patienceMs = 60_000;

/** When a place had the text of the message up to a position. */
interface Seen {
  /** Monotonic time in ms. */
  readonly at: number;
  /** Number of characters. */
  readonly length: number;
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * The time from a chunk of opencode to the subscribers of its session: on the process that runs it, on another process, and in
 * the console. The model is a fake one, and the agent the real program.
 */
export async function measureOpencode(bench: Bench): Promise<Row[]> {
  const { program, profile } = findOpencode();
  if (program === null || chromium === null) {
    const missing = program === null ? 'opencode is not installed (OPENCODE_PROGRAM)' : 'there is no Chromium here';
    bench.progress(`  live/opencode: skipped, because ${missing}`);
    return opencodeRows.map((name) => ({ name, value: null, note: `Not measured: ${missing}.` }));
  }
  if (bench.options.dist === null) await ensureConsole();
  const llm = await startFakeLlm({ apiKey });
  bench.defer(llm.close);
  const folder = await bench.createFolder();
  const [agentsFile, chunksFile] = [join(folder, 'agents.json'), join(folder, 'chunks')];
  const tap = new URL('./support/acp-tap.ts', import.meta.url).pathname;
  const command = [process.execPath, '--import', import.meta.resolve('tsx'), tap, chunksFile, ...program];
  const agent = { id: 'opencode', extends: 'opencode', command, sandbox: 'none', ...profile(llm.url, apiKey) };
  await writeFile(agentsFile, JSON.stringify({ agents: [agent] }));
  const database = await bench.createDatabase();
  const start = async (roles: string) => {
    const port = await freePort();
    const own = { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, ROLES: roles, AGENTS_CONFIG: agentsFile };
    return bench.startServer(database, { env: own });
  };
  const first = await start('api,worker');
  const other = await start('api');
  const text = Array.from({ length: tokens }, (_, n) => ` tök${String(n).padStart(3, '0')}`)
    .join('')
    .slice(1);
  const warmUp = ['Please write.', 'do: say Ready.'];
  const id = await createSession(first, warmUp.join('\n'));
  await untilMessages(first, id, 1);

  const page = await openSession(bench, first, `/sessions/${id}`);
  const inPage = await watchPage(page);
  const inProcess = subscribe(bench, first.url, first.token, id);
  const inOther = subscribe(bench, other.url, first.token, id);
  const prompt = `Please go on.\ndo: pace ${tokenMs}\ndo: say ${text}`;
  // The subscriptions and the browser are ready.
  await wait(2_000);
  await ask(first, sendDocument, { input: { sessionId: id, body: prompt } });
  const [, message] = await untilMessages(first, id, 2);
  await wait(500);

  const chunks = (await readFile(chunksFile, 'utf8')).trim().split('\n');
  const all = chunks.map((line) => JSON.parse(line) as TappedChunk);
  // The answer of the warm-up came first.
  const own = all.slice(all.findIndex((chunk) => text.startsWith(chunk.text)));
  if (own.map((chunk) => chunk.text).join('') !== text)
    throw new Error('The agent did not send the text of its model.');
  if (message !== text) throw new Error(`The log has another text than the agent sent: ${message}`);
  const [mark] = own;
  if (mark === undefined) throw new Error('The agent sent no chunks.');
  const lastAt = Number(BigInt(own.at(-1)?.at ?? 0)) / 1e6;
  bench.progress(
    `  opencode: ${own.length} chunks in ${((lastAt - Number(mark.at) / 1e6) / 1_000).toFixed(1)} s; one message`,
  );
  const records = [inProcess.seen, inOther.seen, await inPage()];
  return opencodeRows.map((name, n) => rowOf(bench, name, own, records[n] ?? []));
}

function rowOf(
  bench: Bench,
  name: (typeof opencodeRows)[number],
  chunks: readonly TappedChunk[],
  seen: readonly Seen[],
): Row {
  let end = 0;
  const delays = chunks.map(({ at, text }) => {
    end += text.length;
    const found = seen.find(({ length }) => length >= end);
    if (found === undefined) throw new Error(`${name}: the text after ${end} characters did not arrive.`);
    return found.at - Number(at) / 1e6;
  });
  const [firstMs = Number.NaN] = delays;
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
  const times = `p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms, most ${at(1).toFixed(0)} ms`;
  const note = `first chunk ${firstMs.toFixed(0)} ms; ${times}, of ${chunks.length} chunks`;
  bench.progress(`  ${name}: ${note}`);
  return { name, value: at(0.95), note };
}

const sendDocument = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }';
const createDocument =
  'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }';
const messagesDocument = `query($id: ID!) { session(id: $id) { events(kinds: [MESSAGE], last: 10) { nodes {
  ... on SessionMessage { type body } } } } }`;
const liveDocument = `subscription($id: ID!) { sessionLive(sessionId: $id) { __typename ... on Draft { kind offset text } } }`;

// JSON of the requested fields, as the documents say.
async function ask(server: Server, query: string, variables: object): Promise<any> {
  return (await askOnce(server.url, graphqlRequest(server.token, query, variables))).data;
}

async function createSession(server: Server, prompt: string): Promise<string> {
  const input = { organizationId: `org-${server.organizationId}`, prompt };
  return (await ask(server, createDocument, { input })).createSession.session.sessionId;
}

/** Waits until the agent has written a number of messages, and returns them. More of them are an error. */
async function untilMessages(server: Server, id: string, count: number): Promise<string[]> {
  for (const until = nowMs() + patienceMs; nowMs() < until; await wait(250)) {
    const { nodes } = (await ask(server, messagesDocument, { id })).session.events;
    const bodies = nodes.flatMap(({ type, body }: any) => (type === 'AGENT_MESSAGE' ? [body] : []));
    if (bodies.length > count) throw new Error(`${count} messages were expected: ${JSON.stringify(bodies)}`);
    if (bodies.length === count) return bodies;
  }
  throw new Error(`The agent did not write ${count} messages within ${patienceMs / 1_000} s.\n${server.output()}`);
}

function subscribe(bench: Bench, url: string, token: string, id: string): { readonly seen: Seen[] } {
  const authorization = `Bearer ${token}`;
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization },
  });
  bench.defer(() => client.dispose());
  const seen: Seen[] = [];
  client.subscribe<any>(
    { query: liveDocument, variables: { id } },
    {
      next({ data }) {
        const item = data?.sessionLive;
        if (item?.__typename !== 'Draft' || item.kind !== 'MESSAGE') return;
        seen.push({ at: nowMs(), length: item.offset + item.text.length });
      },
      error: (error) => bench.progress(`  A subscription failed: ${JSON.stringify(error)}`),
      complete: () => undefined,
    },
  );
  return { seen };
}

async function openSession(bench: Bench, server: Server, path: string): Promise<Page> {
  const browser = await driver.launch({ executablePath: chromium as string, args: ['--no-sandbox'] });
  bench.defer(() => browser.close());
  const page = await openConsole(browser, server.url, server.token);
  await page.goto(path);
  await page.getByText('Ready.', { exact: true }).waitFor();
  return page;
}

/**
 * Records each change of the last message of the agent in the frame that shows it. Returns the function that returns the record,
 * with times of this process.
 */
async function watchPage(page: Page): Promise<() => Promise<Seen[]>> {
  await page.evaluate(() => {
    const record: Seen[] = [];
    Object.assign(globalThis, { record });
    let last = 0;
    // After the callbacks of a frame have changed the page, the frame is painted.
    const look = () => {
      requestAnimationFrame(look);
      const painted = new MessageChannel();
      painted.port1.onmessage = () => {
        const texts = document.querySelectorAll('.message.agent .markdown');
        const length = texts.length < 2 ? 0 : (texts[texts.length - 1]?.textContent?.length ?? 0);
        if (length === last) return;
        last = length;
        record.push({ at: performance.now(), length });
      };
      painted.port2.postMessage(null);
    };
    requestAnimationFrame(look);
  });
  let [offset, error] = [0, Number.POSITIVE_INFINITY];
  for (let n = 0; n < 30; n++) {
    const before = nowMs();
    const inPage = await page.evaluate(() => performance.now());
    const tookMs = nowMs() - before;
    if (tookMs < error) [offset, error] = [before + tookMs / 2 - inPage, tookMs];
  }
  return async () => {
    const record = await page.evaluate(() => (globalThis as unknown as { record: Seen[] }).record);
    return record.map(({ at, length }) => ({ at: at + offset, length }));
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
