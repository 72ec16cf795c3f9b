import type { OutgoingHttpHeaders } from 'node:http';
import { framingHeaders } from '../gateway/framing.ts';
import { closeAfter } from '../gateway/refusals.ts';
import { type RequestBody, readBody, writeBody } from './bodies.ts';
import { CommandListReader, type InvalidPush, type PushHead } from './command-list.ts';
import { baseOf, below, credentialFor, type GitExchange, type GitGatewayParts, ownCredential } from './exchange.ts';
import { isGzip, serviceHeaders } from './git-headers.ts';
import { canReport, createReportReader, encodeReport } from './push-report.ts';
import { describeRules, refusedRefs } from './push-rules.ts';
import { PushState } from './push-state.ts';
import { cleanText, RefusedError, sendGit, sizeText } from './refusals.ts';
import { isGitRefusal } from './repositories.ts';
import { isGitResponse, sendResponse } from './respond.ts';
import { startRequest } from './upstream.ts';
import { readError } from './upstream-errors.ts';

/** A push whose commands have been read. */
interface Push {
  readonly headers: OutgoingHttpHeaders;
  readonly head: PushHead;
  readonly body: RequestBody;
  /** All bytes of the body that have been read. */
  readonly read: Buffer;
  readonly state: PushState;
}

/** Thrown for a push with refs that the rules refuse. The message states where the session may push. */
class RefusedRefsError extends RefusedError {
  /** Reasons by refs. */
  readonly reasons: ReadonlyMap<string, string>;
  constructor(message: string, reasons: ReadonlyMap<string, string>) {
    super(message);
    this.reasons = reasons;
  }
}

/**
 * Passes on a push if the rules allow all of its refs. Otherwise the forge sees nothing, and git shows the reasons.
 * Rejects with RefusedError if the client cannot show them in git's form.
 */
export async function passPush(parts: GitGatewayParts, exchange: GitExchange): Promise<void> {
  const { incoming, outgoing, repository, signal } = exchange;
  const headers = serviceHeaders(incoming.headers, 'receive-pack');
  const body = readBody(incoming, { pace: parts.pace, signal, isGzip: isGzip(incoming.headers) });
  const reader = new CommandListReader(parts.limits);
  const head = await readHead(reader, body);
  // Before a large push, git sends an empty list to find out if it may push at all.
  if (head.type === 'head' && head.commands.length === 0) return answer(parts, exchange, body, Buffer.alloc(0));
  if (!canReport(head.capabilities)) {
    closeAfter(outgoing);
    throw new RefusedError(head.type === 'invalid' ? head.reason : 'The push must ask for "report-status".', 400);
  }
  if (head.type === 'invalid') {
    const refusal = { unpackError: head.reason, refs: [], messages: [head.reason] };
    return answer(parts, exchange, body, encodeReport(head.capabilities, refusal));
  }
  const state = new PushState(head.commands);
  try {
    await forwardPush(parts, exchange, { headers, head, body, read: reader.bytes(), state });
  } catch (error) {
    if (!(error instanceof RefusedError) || outgoing.headersSent) throw error;
    await answer(parts, exchange, body, reportOn(error, head, state));
  } finally {
    parts.access.onPush({ repository, refs: state.refs(), packBytes: state.packBytes });
  }
}

async function readHead(reader: CommandListReader, body: RequestBody): Promise<PushHead | InvalidPush> {
  for (;;) {
    const chunk = await body.next();
    const found = chunk === null ? reader.end() : reader.take(chunk);
    if (found !== null) return found;
  }
}

function reportOn(error: RefusedError, { commands, capabilities }: PushHead, state: PushState): Buffer {
  const message = cleanText(error.message);
  const isByRules = error instanceof RefusedRefsError;
  state.refuse(message, isByRules ? error.reasons : new Map());
  const refs = commands.map(({ ref }) => ({ ref, reason: state.reasonFor(ref) ?? message }));
  return encodeReport(capabilities, { unpackError: isByRules ? null : message, refs, messages: [message] });
}

async function forwardPush(parts: GitGatewayParts, exchange: GitExchange, push: Push): Promise<void> {
  const { head, body, read, headers, state } = push;
  const { repository, incoming, framing, signal } = exchange;
  const { maxPackBytes } = parts.limits;
  await checkPush(parts, exchange, push);
  const { credential, secrets, mask } = await credentialFor(parts, repository, 'write');
  const refusal = await parts.access.beforePush?.(repository, head.commands);
  if (refusal) throw new RefusedError(refusal.message);
  const url = below(baseOf(parts, repository), 'git-receive-pack');
  const { request, response: received } = startRequest(parts.upstream, {
    method: 'POST',
    url,
    headers: { ...headers, ...framingHeaders('POST', isGzip(incoming.headers) ? { type: 'chunked' } : framing) },
    credential: ownCredential(credential, repository, url),
    signal,
  });
  const startOfPack = read.length - head.bytes;
  state.addBytes(startOfPack);
  state.set('refused', 'the agent did not send the push completely');
  const onBytes = (count: number) => state.addBytes(count);
  const end = await writeBody(body, request, { first: read, maxBytes: maxPackBytes - startOfPack, onBytes });
  if (end === 'too large') {
    request.destroy();
    throw new RefusedError(packTooLarge(maxPackBytes));
  }
  // From here on, the forge may have accepted it.
  if (end === 'complete') state.set('unknown', null);
  const response = await received.catch((error: unknown) => {
    throw end === 'complete' && error instanceof RefusedError ? uncertain(error) : error;
  });
  const type = 'receive-pack-result';
  if (!isGitResponse(response, type)) {
    const error = await readError(response, repository, { credential, mask });
    state.set('rejected', null);
    throw error;
  }
  // A forge that cannot read the pack reports that at once. The agent reads the report when it has sent everything.
  if (end === 'stopped') {
    state.set('rejected', 'the forge did not read the push completely');
    if (!(await body.drain(maxPackBytes))) throw new RefusedError(packTooLarge(maxPackBytes));
  }
  const reader = createReportReader(head.capabilities);
  state.setReported(reader.outcomes());
  await sendResponse(parts, exchange, { response, type, secrets }, reader.take);
}

async function checkPush({ access, limits }: GitGatewayParts, { repository }: GitExchange, push: Push): Promise<void> {
  const { head, body, read } = push;
  const rules = await access.rulesFor(repository);
  if (isGitRefusal(rules)) throw new RefusedError(rules.message);
  const refused = refusedRefs(head, rules);
  if (refused !== null)
    throw new RefusedRefsError(describeRules(rules), new Map(refused.map(({ ref, reason }) => [ref, reason])));
  const startOfPack = read.length - head.bytes;
  const isPackExpected = head.commands.some(({ newId }) => newId !== null);
  if (!isPackExpected && (startOfPack > 0 || (await body.next()) !== null))
    throw new RefusedError('The push cannot be read. It deletes refs only, but has a pack.');
  if (startOfPack > limits.maxPackBytes) throw new RefusedError(packTooLarge(limits.maxPackBytes));
}

// The client reads the answer when it has sent everything.
async function answer(
  { limits }: GitGatewayParts,
  { outgoing }: GitExchange,
  body: RequestBody,
  response: Buffer,
): Promise<void> {
  if (!(await body.drain(limits.maxPackBytes))) {
    closeAfter(outgoing);
    throw new RefusedError(packTooLarge(limits.maxPackBytes), 413);
  }
  sendGit(outgoing, 'receive-pack-result', response);
}

function uncertain({ message, status }: RefusedError): RefusedError {
  return new RefusedError(`${message} It may have accepted the push: fetch before you push again.`, status);
}

function packTooLarge(maxBytes: number): string {
  return `The pack of the push is too large: it may take at most ${sizeText(maxBytes)}. Push fewer commits at once, or leave out large files.`;
}
