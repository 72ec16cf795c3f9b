import { DomainError, RateLimitedError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { prefixedId } from '../../domain/ids.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { attachmentPath } from '../../domain/sessions/attachments/links.ts';
import { openAttachmentUpload, uploadAttachment, uploadsPath } from '../../domain/sessions/attachments/uploads.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, type Reply, type ReplyHeaders } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import type { Dialect } from './dialect.ts';
import { receiveFile } from './multipart.ts';
import { RequestError, refusalOf } from './refusal.ts';

/** Returns true if a request uploads a file to an address that the service issued for it. */
export function isUpload({ method, path }: RequestView): boolean {
  return method === 'POST' && path.startsWith(`${uploadsPath}/`);
}

/**
 * Receives one file on behalf of the key that requested the upload address, and counts it against that key's REST
 * limit. Answers as version 3 of REST does; never rejects.
 */
export async function receiveUpload(services: Services, dialect: Dialect, request: RequestView): Promise<Reply> {
  let headers = {};
  const { path } = request;
  const query = queryOf(request);
  try {
    const part = (name: string) => query.get(name) ?? '';
    const parts = {
      id: path.slice(uploadsPath.length + 1),
      organizationId: part('organizationId'),
      apiKeyId: part('apiKeyId'),
      consoleSessionId: part('consoleSessionId'),
      expires: part('expires'),
      signature: part('signature'),
    };
    const context = await openAttachmentUpload(services, parts, request.address);
    request.principalId = context.viewer.principal.id;
    const spending = await services.limits.rest.spend(context.viewer.apiKeyId ?? context.viewer.principal.id);
    headers = limitHeaders(spending);
    if (spending?.isAllowed === false) {
      const message = `A key may send ${spending.limit} requests in a minute. Wait and try again.`;
      throw new RateLimitedError(message, spending);
    }
    const attachment = await receiveFile(request, 'file', (file) => uploadAttachment(context, parts, file));
    const { id, name } = attachment;
    const url = context.baseUrl + attachmentPath(attachment);
    return finish(jsonReply(200, { attachment_id: prefixedId('attachment', id), name, url }), headers);
  } catch (error) {
    return finish(refuse(services, dialect, error, request), headers);
  }
}

function refuse(services: Services, dialect: Dialect, thrown: unknown, { id, path }: RequestView): Reply {
  const error = asRefusal(thrown);
  const noParameters = { query: new Set<string>(), path: new Set<string>() };
  if (error instanceof DomainError) {
    // Version 3's own text does not apply: it asks for a header, and an upload needs none.
    const mapping = { ...dialect, says: (_error: DomainError, text: string) => text };
    return dialect.problem(refusalOf(error, mapping, noParameters), path);
  }
  if (error instanceof RequestError) {
    const { status, message, issues, headers } = error;
    return dialect.problem({ status, message, issues, headers }, path);
  }
  services.log.error({ err: error, requestId: id, path }, 'A file could not be uploaded.');
  return dialect.problem({ status: 500, message: 'Something went wrong', issues: [] }, path);
}

const finish = (reply: Reply, headers: ReplyHeaders): Reply => reply.with({ ...headers, 'cache-control': 'no-store' });
