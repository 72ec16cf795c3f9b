import type { ForgeHttp, HttpResponse } from '../http/forge-http.ts';
import { type CallContext, errorOf } from '../http/responses.ts';
import { type ForgeError, invalidResponse } from '../interface/errors.ts';
import { isBranchName } from '../support/text.ts';

/** The refs that a server advertises for one service. */
export interface AdvertisedRefs {
  /** The branch of HEAD; null: the repository is empty, or the server does not say. */
  readonly defaultBranch: string | null;
  readonly isEmpty: boolean;
}

/** Options of {@link readInfoRefs}. */
export interface InfoRefsOptions {
  readonly http: ForgeHttp;
  /** The address of the repository for git. */
  readonly cloneUrl: string;
  readonly service: 'git-upload-pack' | 'git-receive-pack';
  readonly authorization: string | null;
  readonly context: CallContext;
}

/** Repositories with many refs have long lists; the first ref has everything that is needed, but HTTP sends all. */
const maxBytes = 20 * 1024 * 1024;

/** Reads the refs of a repository like `git ls-remote`, by the smart HTTP protocol, version 0. Changes nothing. */
export async function readInfoRefs(options: InfoRefsOptions): Promise<AdvertisedRefs> {
  const { http, cloneUrl, service, authorization, context } = options;
  const response = await http.send({
    method: 'GET',
    url: new URL(`${cloneUrl}/info/refs?service=${service}`),
    headers: { accept: '*/*', ...(authorization !== null && { authorization }) },
    timeoutMs: 30_000,
    keep: { limit: maxBytes },
    network: 'any',
  });
  if (response.status !== 200) throw refusalOf(response, context);
  if (response.headers['content-type'] !== `application/x-${service}-advertisement`) {
    throw invalidResponse(context.host, 'it is not from a git server with the smart HTTP protocol');
  }
  return readAdvertisement(response.body, service, context.host);
}

function refusalOf(response: HttpResponse, context: CallContext): ForgeError {
  const { status } = response;
  if (status >= 300 && status < 400)
    return invalidResponse(context.host, 'it redirects; use the new address of the repository');
  return errorOf({ ...response, body: new Uint8Array() }, context);
}

// pkt-line: four hexadecimal digits with the length, themselves included; "0000" ends a section.
function readAdvertisement(body: Uint8Array, service: string, host: string): AdvertisedRefs {
  const lines = packetLines(body, host);
  if (lines[0]?.trimEnd() !== `# service=${service}` || lines[1] !== '') {
    throw invalidResponse(host, 'it does not begin with the name of the service');
  }
  // Nothing at all, or the features alone: a repository without a commit.
  if (lines[2] === '') return { defaultBranch: null, isEmpty: true };
  const [first = '', features = ''] = (lines[2] ?? '').split('\0');
  const [, commit, ref] = /^([0-9a-f]{40}|[0-9a-f]{64}) (.+?)\n?$/.exec(first) ?? [];
  if (commit === undefined) throw invalidResponse(host, 'its first ref is invalid');
  if (/^0+$/.test(commit) || ref === 'capabilities^{}') return { defaultBranch: null, isEmpty: true };
  const target = /(?:^| )symref=HEAD:refs\/heads\/(\S+)/.exec(features)?.[1];
  return { defaultBranch: target !== undefined && isBranchName(target) ? target : null, isEmpty: false };
}

/** Maximum number of lines that are read: the service, a flush packet, and the first ref. */
const maxLines = 3;

function packetLines(body: Uint8Array, host: string): string[] {
  const lines: string[] = [];
  for (let at = 0; lines.length < maxLines; ) {
    const digits = new TextDecoder('latin1').decode(body.subarray(at, at + 4));
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length === 0) {
      lines.push('');
      at += 4;
      continue;
    }
    if (length < 4 || at + length > body.length) throw invalidResponse(host, 'its lines are not of the git protocol');
    lines.push(new TextDecoder().decode(body.subarray(at + 4, at + length)));
    at += length;
  }
  return lines;
}
