import { Readable } from 'node:stream';
import type { FileChange, RepositoryChanges } from '../../../git/diff/file-change.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import type { ParentRun } from '../admit-child.ts';
import { storeFile } from '../attachments/store-file.ts';
import { lockSession, notifySession } from '../change-session.ts';
import { writeChangedFiles } from './changed-files.ts';

/** The changes of one turn, or of all turns. */
export interface ChangeFiles {
  /** 0: all turns so far. */
  readonly turn: number;
  readonly changes: RepositoryChanges;
  /** The files of `changes` without secrets. */
  readonly files: readonly FileChange[];
  /** Null: there is none. */
  readonly patch: Buffer | null;
  readonly bundle: Buffer | null;
}

/** The repository of a session that has changes. */
export interface ChangedRepository {
  readonly organizationId: string;
  readonly position: number;
  readonly baseCommit: string | null;
  /** The beginning of the names of its files. */
  readonly name: string;
}

/** Bytes of all files of changes in a session: beyond that, the texts of single turns are not stored. */
const maxSessionBytes = 256 * 1_048_576;

type Stored = Pick<ChangeFiles, 'turn' | 'changes'> & Record<'filesId' | 'patchId' | 'bundleId', string | null>;

/**
 * Stores changes with their files, in place of the earlier ones of the same turns. Throws FencedError. Files that a failure
 * leaves behind belong to no session, and are deleted as such.
 */
export async function storeChanges(
  context: Context,
  run: ParentRun,
  repository: ChangedRepository,
  all: readonly ChangeFiles[],
): Promise<void> {
  const stored: Stored[] = [];
  const isFull = await hasNoRoom(context, run.sessionId);
  for (const each of all) {
    const { turn, changes, files, patch, bundle } = each;
    const isLeftOut = isFull && turn > 0;
    const store = (ending: string, contentType: string, content: string | Buffer | null) =>
      isLeftOut || content === null || content.length === 0
        ? null
        : storeOne(context, repository, { name: `${repository.name}.${ending}`, contentType, content });
    stored.push({
      turn,
      changes: isLeftOut ? { ...changes, isTruncated: true } : changes,
      filesId: await store('changes.jsonl', 'application/jsonl', writeChangedFiles(files)),
      patchId: await store('patch', 'text/x-diff', patch),
      bundleId: await store('bundle', 'application/octet-stream', bundle),
    });
  }
  const replaced: string[] = [];
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    for (const row of stored) replaced.push(...(await write(context, tx, run, repository, row)));
    // Recorded before the rows are deleted, so that the clean-up deletes the files after a crash.
    for (const id of replaced) await context.files.unsettle(id);
    await tx.query(`delete from attachment where id = any($1::text[]) and source = 'changes'`, [replaced]);
    await tx.query('update session set changes_at = $2 where id = $1', [run.sessionId, context.now()]);
    notifySession(context, tx, session);
  });
  for (const id of replaced)
    await context.files.discard(id).catch((error: unknown) => {
      context.log.warn({ err: error, attachmentId: id }, 'A replaced change file could not be deleted yet.');
    });
}

async function hasNoRoom({ store }: Context, sessionId: string): Promise<boolean> {
  const [row] = await store.query<{ bytes: number }>(
    `select coalesce(sum(size_bytes), 0)::float8 as bytes from attachment where session_id = $1 and source = 'changes'`,
    [sessionId],
  );
  return (row?.bytes ?? 0) > maxSessionBytes;
}

interface NewFile {
  readonly name: string;
  readonly contentType: string;
  readonly content: string | Buffer;
}

// It belongs to no session until its row of changes is written.
async function storeOne(context: Context, { organizationId }: ChangedRepository, file: NewFile): Promise<string> {
  const { name, contentType } = file;
  const incoming = { organizationId, sessionId: null, source: 'changes', name, contentType } as const;
  const content = Readable.from([Buffer.from(file.content)]);
  const tooLarge = { path: 'changes', expected: 'The changes of a repository must have' };
  const { id } = await storeFile(context, { ...incoming, content }, tooLarge, async (attachment, storageKey) => {
    await context.store.transact((tx) => tx.prisma.attachment.create({ data: { ...attachment, storageKey } }));
  });
  return id;
}

// Returns the ids of the files that are replaced.
async function write(
  context: Context,
  tx: Transaction,
  { sessionId }: ParentRun,
  { position, baseCommit }: ChangedRepository,
  { turn, changes, filesId, patchId, bundleId }: Stored,
): Promise<string[]> {
  const key = { sessionId, position, turn };
  const [earlier] = await tx.query<{ ids: (string | null)[] }>(
    `select array[files_id, patch_id, bundle_id] as ids from repository_change
      where session_id = $1 and position = $2 and turn = $3`,
    [sessionId, position, turn],
  );
  const { head: headCommit, fileCount, additions, deletions, isTruncated } = changes;
  const values = { baseCommit, headCommit, fileCount, additions, deletions, isTruncated, filesId, patchId, bundleId };
  const data = { ...values, createdAt: context.now() };
  await tx.prisma.repositoryChange.upsert({
    where: { sessionId_position_turn: key },
    create: { ...key, ...data },
    update: data,
  });
  const ids = [filesId, patchId, bundleId].filter((id) => id !== null);
  await tx.query('update attachment set session_id = $2 where id = any($1::text[])', [ids, sessionId]);
  return (earlier?.ids ?? []).filter((id) => id !== null);
}
