import { openInside } from '../../../agents/safe-directory.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { claimIdempotencyKey } from '../../idempotency.ts';
import type { ParentRun } from '../admit-child.ts';
import { lockSession, notifySession } from '../change-session.ts';
import { appendEntries } from '../log.ts';
import type { AttachmentRecord } from './attachments.ts';
import { storeFile } from './store-file.ts';

/** A file in a session's workspace. */
export interface AgentFile {
  readonly organizationId: string;
  /** On this host. */
  readonly workspaceDir: string;
  /** Relative to the workspace. */
  readonly path: string;
  /** What it is called; left out: as on disk. */
  readonly name?: string | undefined;
  /** Of one state of the file: under it an attachment is made once; left out: each time. */
  readonly idempotencyKey?: string | undefined;
}

/** There is an attachment under the file's key already. */
export class AlreadyStoredError extends Error {}

/**
 * Makes an attachment of a file that an agent made. INVALID_INPUT at `path` for what is no file inside of the workspace, also
 * behind a link; LIMIT_EXCEEDED beyond what the service takes; FencedError; AlreadyKeptError. Nothing is left behind then.
 */
export async function storeAgentFile(context: Context, run: ParentRun, file: AgentFile): Promise<AttachmentRecord> {
  const handle = file.path.includes('\u0000') ? null : await openInside(file.workspaceDir, file.path);
  if (handle === null) {
    const named = JSON.stringify(file.path.slice(0, 200));
    throw refuse(['path'], `"path" must name a file in the workspace, but there is none at ${named}.`);
  }
  const { organizationId, idempotencyKey } = file;
  const { sessionId } = run;
  const name = file.name ?? file.path;
  try {
    const content = handle.createReadStream({ autoClose: false });
    return await storeFile(
      context,
      { organizationId, sessionId, source: 'agent', name, content },
      { path: 'path', expected: '"path" must name a file of' },
      (attachment, storageKey) => insert(context, run, { attachment, storageKey, idempotencyKey }),
    );
  } finally {
    await handle.close();
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
