import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import { refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { claimIdempotencyKey } from '../../idempotency.ts';
import { requireStorageRoom } from '../../identity/organizations/organization-quotas.ts';
import type { ParentRun } from '../admit-child.ts';
import { lockSession, notifySession } from '../change-session.ts';
import { appendEntries } from '../log.ts';
import type { AttachmentRecord } from './attachments.ts';
import { storeFile } from './store-file.ts';

/** A file in a session's workspace. */
export interface AgentFile {
  readonly organizationId: string;
  readonly workspace: WorkspaceFiles;
  /** Relative to the workspace. */
  readonly path: string;
  /** The attachment's name; if omitted: the name on disk. */
  readonly name?: string | undefined;
  /** Identifies one state of the file, of which only one attachment is created; if omitted: one for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Thrown if an attachment with the file's key already exists. */
export class AlreadyStoredError extends Error {}

/**
 * Creates an attachment of a file that an agent wrote. Throws INVALID_INPUT at `path` if it is not a file inside the
 * workspace, even through a link; LIMIT_EXCEEDED beyond the maximum size and the organization's storage; FencedError; AlreadyStoredError. Leaves
 * nothing behind then.
 */
export async function storeAgentFile(context: Context, run: ParentRun, file: AgentFile): Promise<AttachmentRecord> {
  const content = await file.workspace.read(file.path);
  if (content === null) {
    const named = JSON.stringify(file.path.slice(0, 200));
    throw refuse(['path'], `"path" must name a file in the workspace, but there is none at ${named}.`);
  }
  const { organizationId, idempotencyKey } = file;
  const { sessionId } = run;
  const name = file.name ?? file.path;
  try {
    return await storeFile(
      context,
      { organizationId, sessionId, source: 'agent', name, content },
      { path: 'path', expected: '"path" must name a file of' },
      (attachment, storageKey) => insert(context, run, { attachment, storageKey, idempotencyKey }),
    );
  } finally {
    content.destroy();
  }
}

async function insert(
  context: Context,
  run: ParentRun,
  stored: {
    readonly attachment: AttachmentRecord;
    readonly storageKey: string;
    readonly idempotencyKey: string | undefined;
  },
): Promise<void> {
  const { attachment, storageKey, idempotencyKey: key } = stored;
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    if (key !== undefined) {
      const { organizationId, id: resultId } = attachment;
      const claim = { organizationId, operation: 'keepAgentFile', key, input: null, resultId };
      if ((await claimIdempotencyKey(context, tx, claim)).replay !== null) throw new AlreadyStoredError();
    }
    await requireStorageRoom(context, tx, attachment.organizationId, attachment.sizeBytes);
    await tx.prisma.attachment.create({ data: { ...attachment, storageKey } });
    const { id, name, contentType, sizeBytes } = attachment;
    const data = { attachmentId: id, name, contentType, sizeBytes, source: 'agent' };
    await appendEntries(
      tx,
      run.sessionId,
      run.generation,
      [{ kind: 'ATTACHMENT', body: name, data }],
      attachment.createdAt,
    );
    notifySession(context, tx, session);
  });
}
