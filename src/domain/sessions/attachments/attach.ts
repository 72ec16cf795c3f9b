import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { type AttachmentRecord, attachmentColumns, notOfTool } from './attachments.ts';
import { attachmentLink, attachmentPath, parseAttachmentReference } from './links.ts';

/** Maximum number of attachments of one message; further references in its text are only text. */
export const maxAttachments = 100;
/** Lifetime of the links in an agent's prompt. Every turn has new ones. */
const agentLinkLifetimeMs = 7 * 24 * 60 * 60_000;

// The line of a prompt that names an attachment (docs/wire/v1.md#attachments).
const line = /^[ \t]*ATTACHMENT:"([^"\r\n]+)"[ \t]*\r?$/gm;

/** Returns the unprefixed ids in a text's attachment lines, without duplicates. They are not checked. */
export function attachmentsNamedIn(text: string): string[] {
  const ids = [...text.matchAll(line)].map(([, url]) => parseAttachmentReference(url as string));
  return [...new Set(ids.filter((id) => id !== null))];
}

/**
 * Adds attachments to a session: those of the input, by ids in any form or by any of their URLs, and those in the text.
 * Returns the text with a line for each attachment that it does not name. Throws UNKNOWN_REFERENCE for an attachment in
 * the input that is not the organization's; unknown ids in the text are ignored.
 */
export async function attach(
  context: Context,
  tx: Transaction,
  session: { readonly id: string; readonly organizationId: string },
  message: { readonly text: string; readonly attachmentIds?: readonly string[] | null | undefined },
): Promise<string> {
  const references = message.attachmentIds ?? [];
  if (references.length > maxAttachments) {
    const problem = `"attachmentIds" must have at most ${maxAttachments} items, but has ${references.length}.`;
    throw refuse(['attachmentIds'], problem, 'LIMIT_EXCEEDED');
  }
  const named = attachmentsNamedIn(message.text).slice(0, maxAttachments);
  const wanted = references.map(parseAttachmentReference);
  const ids = [...new Set([...named, ...wanted.filter((id) => id !== null)])].sort();
  if (ids.length === 0 && references.length === 0) return message.text;
  const rows = await tx.query<AttachmentRecord>(
    `select ${attachmentColumns} from attachment a
      where a.id = any($1::text[]) and a.organization_id = $2 and ${notOfTool} order by a.id for update`,
    [ids, session.organizationId],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  const unknown = references.find((_reference, n) => !found.has(wanted[n] ?? ''));
  if (unknown !== undefined) {
    const problem = `"attachmentIds" refers to ${JSON.stringify(unknown.slice(0, 80))}, which does not exist.`;
    throw refuse(['attachmentIds'], problem, 'UNKNOWN_REFERENCE');
  }
  await bind(context, tx, session, [...found.keys()]);
  const added = [...new Set(wanted)].filter((id) => id !== null && !named.includes(id));
  const lines = added.map((id) =>
    lineOf(context.baseUrl + attachmentPath(found.get(id as string) as AttachmentRecord)),
  );
  return lines.length === 0 ? message.text : `${message.text}\n\n${lines.join('\n')}`;
}

function lineOf(url: string): string {
  return `ATTACHMENT:"${url}"`;
}

/** An attachment of another session is added to this session under a new id, with the same file. */
async function bind(
  context: Context,
  tx: Transaction,
  session: { readonly id: string; readonly organizationId: string },
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into attachment (id, organization_id, session_id, name, content_type, size_bytes, storage_key, source, created_at)
     select ids.new_id, a.organization_id, $1, a.name, a.content_type, a.size_bytes, a.storage_key, a.source, $4::timestamptz
       from unnest($2::text[], $3::text[]) as ids(id, new_id) join attachment a on a.id = ids.id
      where a.session_id <> $1
        and not exists (select 1 from attachment own where own.session_id = $1 and own.storage_key = a.storage_key)`,
    [session.id, ids, ids.map(newId), context.now()],
  );
  await tx.query('update attachment set session_id = $1 where id = any($2::text[]) and session_id is null', [
    session.id,
    ids,
  ]);
}

/**
 * Returns messages as the agent receives them: a line for an attachment of the session's organization gets a URL from
 * which the agent can download it without a key, for a week.
 */
export async function withAgentLinks<T extends { readonly body: string }>(
  context: Context,
  sessionId: string,
  messages: readonly T[],
): Promise<T[]> {
  const ids = [...new Set(messages.flatMap(({ body }) => attachmentsNamedIn(body)))];
  if (ids.length === 0) return [...messages];
  const rows = await context.store.query<AttachmentRecord>(
    `select ${attachmentColumns} from attachment a join session s on s.organization_id = a.organization_id
      where s.id = $1 and a.id = any($2::text[]) and ${notOfTool}`,
    [sessionId, ids],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  const withLinks = (body: string) =>
    body.replaceAll(line, (match, url: string) => {
      const attachment = found.get(parseAttachmentReference(url) ?? '');
      return attachment ? lineOf(attachmentLink(context, attachment, agentLinkLifetimeMs)) : match;
    });
  return messages.map((message) => ({ ...message, body: withLinks(message.body) }));
}
