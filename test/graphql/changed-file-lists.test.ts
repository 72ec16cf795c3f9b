import { expect, it, onTestFinished, vi } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { storeChanges } from '../../src/domain/sessions/repository-changes/store-changes.ts';
import type { FileChange } from '../../src/git/diff/file-change.ts';
import { graphql } from '../support/app.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** Stores a changed file with hunks of 4 MB for a session, and returns the session's id. */
async function storeLargeChange(): Promise<string> {
  const sessionId = await createSession(test, { prompt: 'Write' });
  const id = parseId('session', sessionId) ?? '';
  const organizationId = parseId('organization', test.organizationId) ?? '';
  const lines = Array.from({ length: 4 }, () => `+${'x'.repeat(1_048_576)}`);
  const file: FileChange = {
    ...{ path: 'a.txt', oldPath: null, status: 'ADDED', oldMode: null, mode: '100644', size: 4_194_304 },
    ...{ additions: 4, deletions: 0, isBinary: false },
    hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 4, heading: '', lines }],
  };
  const changes = { head: null, files: [file], fileCount: 1, additions: 4, deletions: 0, isTruncated: false };
  await storeChanges(
    asSystem(test.app.services, ''),
    { sessionId: id, generation: 0 } as never,
    { organizationId, position: 0, baseCommit: null, name: 'site' },
    [{ turn: 0, changes, files: [file], patch: null, bundle: null }],
  );
  return sessionId;
}

const read = (sessionId: string, count: number, selection: string) => {
  const fields = Array.from({ length: count }, (_, n) => `f${n}: files(first: 1) { nodes { ${selection} } }`);
  const query = `query ($id: ID!) { session(id: $id) { changes { ${fields.join(' ')} } } }`;
  return graphql(test, test.adminToken, query, { id: sessionId });
};

it('reads a list of changed files once for all fields, and bounds the hunks of an operation', async () => {
  const sessionId = await storeLargeChange();
  const reads = vi.spyOn(test.app.services.files, 'read');
  onTestFinished(() => reads.mockRestore());
  const names = await read(sessionId, 50, 'path');
  expect(names.errors).toBeUndefined();
  expect(names.data.session.changes[0].f49).toEqual({ nodes: [{ path: 'a.txt' }] });
  expect(reads).toHaveBeenCalledTimes(1);
  expect((await read(sessionId, 2, 'hunks { newLines }')).errors).toBeUndefined();
  const { errors } = await read(sessionId, 17, 'hunks { lines }');
  const message = 'The operation asks for more than 64 MiB of hunks: ask for fewer files.';
  expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'LIMIT_EXCEEDED' } });
});
