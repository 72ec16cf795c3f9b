import { DomainError, RateLimitedError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { openLiveStream, tooManyStreams } from '../../domain/limits/open-streams.ts';
import {
  findWorkspaceDownload,
  readAhead,
  type WorkspaceDownload,
} from '../../domain/sessions/workspace-files/download.ts';
import {
  openWorkspaceFileLink,
  type WorkspaceFileLink,
  workspaceFilesPath,
} from '../../domain/sessions/workspace-files/file-links.ts';
import { abortableBody } from '../../http/abortable-body.ts';
import { inPieces } from '../../http/in-pieces.ts';
import { jsonReply, Reply, type ReplyHeaders } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { dispositionOf, type FileRange, harmlessHeaders, readRange, refuseFile } from './file-replies.ts';

/** Serves `/workspace-files/{session}/{checkpoint}/{name}`: a file of a saved workspace, or a directory as an archive. */
export interface WorkspaceFiles {
  /**
   * A signed link is required, and acts in the name of the key that requested it: the request counts against the key's REST limit, and
   * the response takes one of its streams and ends when the key does. Never rejects.
   */
  respond(request: RequestView): Promise<Reply>;
}

/** Creates the {@link WorkspaceFiles}. */
export function createWorkspaceFiles(services: Services): WorkspaceFiles {
  return {
    async respond(request) {
      let headers: ReplyHeaders = {};
      const { method } = request;
      if (method !== 'GET' && method !== 'HEAD') {
        return jsonReply(405, { detail: 'A file of a workspace can only be read.' }, { allow: 'GET, HEAD' });
      }
      try {
        const context = await openWorkspaceFileLink(services, readLink(request), request.address);
        request.principalId = context.viewer.principal.id;
        const spending = await services.limits.rest.spend(context.viewer.apiKeyId ?? context.viewer.principal.id);
        headers = limitHeaders(spending);
        if (spending?.isAllowed === false) {
          const message = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
          throw new RateLimitedError(message, spending);
        }
        const download = await findWorkspaceDownload(context, readLink(request));
        return (await serve(services, context, request, download)).with(headers);
      } catch (error) {
        return refuseFile(services, request, error).with(headers);
      }
    },
  };
}

function readLink(request: RequestView): WorkspaceFileLink {
  const [sessionId = '', checkpointId = ''] = request.path.slice(workspaceFilesPath.length + 1).split('/');
  const query = queryOf(request);
  const part = (name: string) => query.get(name) ?? '';
  return {
    sessionId,
    checkpointId,
    path: part('path'),
    isArchive: part('archive') === 'tar',
    apiKeyId: part('apiKeyId'),
    consoleSessionId: part('consoleSessionId'),
    expires: part('expires'),
    signature: part('signature'),
  };
}

type Caller = Parameters<typeof openLiveStream>[1];

async function serve(
  services: Services,
  caller: Caller,
  request: RequestView,
  download: WorkspaceDownload,
): Promise<Reply> {
  const { size, tag, name } = download;
  const etag = `"${tag}"`;
  const headers = {
    'content-type': size === null ? 'application/x-tar' : 'application/octet-stream',
    'content-disposition': dispositionOf(name, false),
    etag,
    ...harmlessHeaders,
    ...(size !== null && { 'accept-ranges': 'bytes' }),
  };
  if (request.header('if-none-match')?.includes(etag)) return new Reply(304, headers);
  if (size === null) return sendBody(services, caller, request, new Reply(200, headers), download, null);
  // A part of another content than the client has is of no use (RFC 9110, 13.1.5).
  const isSame = [null, etag].includes(request.header('if-range'));
  const range = isSame ? readRange(request, size) : null;
  if (range === 'unsatisfiable') {
    const detail = `The range is not one of the file's ${size} bytes.`;
    return jsonReply(416, { detail }, { ...harmlessHeaders, 'content-range': `bytes */${size}` });
  }
  const length = { 'content-length': String(range ? range.end - range.start + 1 : size) };
  const reply = range
    ? new Reply(206, { ...headers, ...length, 'content-range': `bytes ${range.start}-${range.end}/${size}` })
    : new Reply(200, { ...headers, ...length });
  return size === 0 ? reply : sendBody(services, caller, request, reply, download, range);
}

async function sendBody(
  services: Services,
  caller: Caller,
  request: RequestView,
  reply: Reply,
  download: WorkspaceDownload,
  range: FileRange | null,
): Promise<Reply> {
  if (request.method === 'HEAD') return reply;
  // A part of a file must not look complete: if the key ends, the connection is closed.
  const live = openLiveStream(services, caller, () => request.destroy());
  if (live === null) throw new DomainError('RATE_LIMITED', tooManyStreams(services.openStreams));
  const ended = new AbortController();
  const leave = () => {
    live.leave();
    ended.abort();
  };
  try {
    const content = await readAhead(download.open(range, AbortSignal.any([ended.signal, request.signal])));
    const body = abortableBody(ended.signal, content.pipeThrough(inPieces()), leave, () => request.destroy());
    return new Reply(reply.status, reply.headers, body);
  } catch (error) {
    leave();
    throw error;
  }
}
