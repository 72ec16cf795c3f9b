import type { ServerResponse } from 'node:http';
import { closeAfter } from '../gateway/refusals.ts';
import { flushPkt, pktLine } from './pkt-line.ts';
import type { GitRoute } from './routes.ts';

/** Ends a request with a sentence for the agent. Contains no secret. */
export class RefusedError extends Error {
  /** Used for LFS and for requests that git does not send; git itself gets its own form of an error. */
  readonly status: number;
  constructor(message: string, status = 403) {
    super(message);
    this.name = 'RefusedError';
    this.status = status;
  }
}

/** The media type of the LFS API. */
export const lfsType = 'application/vnd.git-lfs+json';

/** Longer messages are cut, in characters. */
const maxMessageLength = 1_000;

/**
 * Answers with a sentence in the form that the client of this route shows: git prints "fatal: remote error:" and the
 * sentence. A push with commands has its own form, see push-report.ts.
 */
export function refuse(outgoing: ServerResponse, route: GitRoute | null, { message, status }: RefusedError): void {
  const sentence = cleanText(message);
  if (route?.type === 'advertisement') {
    const head = [pktLine(`# service=git-${route.service}\n`), flushPkt];
    sendGit(outgoing, `${route.service}-advertisement`, Buffer.concat([...head, pktLine(`ERR ${sentence}\n`)]));
  } else if (route?.type === 'service' && route.service === 'upload-pack') {
    sendGit(outgoing, 'upload-pack-result', pktLine(`ERR ${sentence}\n`));
  } else if (route?.type.startsWith('lfs')) {
    send(outgoing, status, lfsType, Buffer.from(JSON.stringify({ message: sentence })));
  } else send(outgoing, status, 'text/plain; charset=utf-8', Buffer.from(`${sentence}\n`));
}

/** Refuses a request, and reads nothing more from its connection. */
export function refuseAndClose(outgoing: ServerResponse, route: GitRoute | null, error: RefusedError): void {
  closeAfter(outgoing);
  refuse(outgoing, route, error);
}

/** Sends a complete response of git; `type` is the part of the media type after `git-`. */
export function sendGit(outgoing: ServerResponse, type: string, body: Buffer): void {
  send(outgoing, 200, `application/x-git-${type}`, body);
}

function send(outgoing: ServerResponse, status: number, type: string, body: Buffer): void {
  outgoing.writeHead(status, { 'content-type': type, 'content-length': body.length, 'cache-control': 'no-cache' });
  outgoing.end(body);
}

/** Makes one line of a text that others wrote, without invisible characters and of limited length. */
export function cleanText(text: string): string {
  const line = text.slice(0, maxMessageLength * 2).replace(/[\p{C}\p{Z}]+/gu, ' ');
  return line.trim().slice(0, maxMessageLength);
}

/** Writes a limit of bytes for people: in MB if it is a multiple, as those of settings are. */
export function sizeText(bytes: number): string {
  const megabytes = bytes / 1_048_576;
  return Number.isInteger(megabytes) ? `${megabytes} MB` : `${bytes} bytes`;
}
