import { Readable } from 'node:stream';
import { newId } from '../../src/domain/ids.ts';
import { writeChangedFiles } from '../../src/domain/sessions/repository-changes/changed-files.ts';
import type { FileChange } from '../../src/git/diff/file-change.ts';
import type { Transaction } from '../../src/store/store.ts';
import type { TestApp } from '../support/app.ts';

interface ChangesSeed {
  canary(word: string): string;
  readonly organizationId: string;
  readonly sessionId: string;
  readonly createdAt: Date;
}

/** Seeds the changes of a session's repository, with their files. */
export async function seedChanges(
  { files }: TestApp['app']['services'],
  tx: Transaction,
  { organizationId, sessionId, canary, createdAt }: ChangesSeed,
): Promise<void> {
  const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, heading: canary('heading') };
  const changed: FileChange = {
    ...{ path: canary('path'), oldPath: canary('old-path'), status: 'RENAMED', oldMode: '100644', mode: '100644' },
    ...{ additions: 1, deletions: 0, isBinary: false, size: 1, hunks: [{ ...hunk, lines: [`+${canary('line')}`] }] },
  };
  const store = async (ending: string, content: string) => {
    const id = newId();
    const { sizeBytes } = await files.receive(id, Readable.from([content]), 1_048_576);
    const storageKey = await files.store(id);
    const file = { name: `${canary('changes')}.${ending}`, contentType: 'text/plain', sizeBytes, storageKey };
    await tx.prisma.attachment.create({
      data: { id, organizationId, sessionId, ...file, source: 'changes', createdAt },
    });
    return id;
  };
  const stored = {
    filesId: await store('jsonl', writeChangedFiles([changed, changed])),
    patchId: await store('patch', canary('patch')),
    bundleId: await store('bundle', canary('bundle')),
  };
  const commits = { baseCommit: canary('commit'), headCommit: canary('head') };
  const figures = { fileCount: 2, additions: 2, deletions: 0, isTruncated: false };
  await tx.prisma.repositoryChange.create({
    data: { sessionId, position: 0, turn: 0, ...commits, ...figures, ...stored, createdAt },
  });
}
