import type { Context } from '../../context.ts';
import { attachmentsNamedIn } from '../../sessions/attachments/attach.ts';
import { notOfTool } from '../../sessions/attachments/attachments.ts';
import type { StoredAttachment } from './session-files.ts';

/** Returns the attachments of a session's organization that messages name, in order; at most a hundred. */
export async function attachmentsOfTurn(
  context: Pick<Context, 'store'>,
  sessionId: string,
  messages: readonly { readonly body: string }[],
): Promise<StoredAttachment[]> {
  const ids = [...new Set(messages.flatMap(({ body }) => attachmentsNamedIn(body)))].slice(0, 100);
  if (ids.length === 0) return [];
  return context.store.query<StoredAttachment>(
    `select a.id, a.name, a.content_type as "contentType", a.size_bytes as "sizeBytes", a.storage_key as "storageKey",
            exists (select 1 from attachment other where other.session_id = s.id and other.source <> 'tool'
              and lower(other.name) = lower(a.name) and other.storage_key <> a.storage_key) as "isNameShared"
       from session s join attachment a on a.organization_id = s.organization_id
      where s.id = $1 and a.id = any($2::text[]) and ${notOfTool} order by array_position($2::text[], a.id)`,
    [sessionId, ids],
  );
}
