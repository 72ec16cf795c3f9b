import { expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { pushTitle } from '../../../web/src/session/repository-rows.ts';
import { baseOf, repositoryName } from '../../../web/src/session/repository-text.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const entry = (seq: number, fields: object) =>
  ({ id: `e${seq}`, seq, createdAt: '2026-01-01T00:00:00Z', ...fields }) as unknown as Entry;
const step = (seq: number, repositoryState: string, repository = 'git.test/acme/site') =>
  entry(seq, { __typename: 'RepositoryEvent', repository, repositoryState, percent: null, body: '' });
const statesOf = (entries: readonly Entry[]) =>
  transcriptRows(entries).map((row) =>
    row.type === 'repository' ? `${row.key} ${row.entry.repositoryState}` : row.type,
  );

it('shows the steps of a clone as one row, and each clone of its own', () => {
  expect(statesOf([step(1, 'CLONING'), step(2, 'CLONING'), step(3, 'READY')])).toEqual(['e1 READY']);
  const twice = [step(1, 'CLONING'), step(2, 'FAILED'), step(3, 'CLONING'), step(4, 'READY')];
  expect(statesOf(twice)).toEqual(['e1 FAILED', 'e3 READY']);
  const two = [step(1, 'CLONING'), step(2, 'CLONING', 'git.test/acme/docs'), step(3, 'READY')];
  expect(statesOf(two)).toEqual(['e1 READY', 'e2 CLONING']);
});

it('leaves out the error, the message and the status that repeat the failure of a clone', () => {
  const body =
    'The repository git.test/acme/site cannot be used: It is gone. Send a message to try again, or start a session in another repository.';
  const failure = [
    step(1, 'FAILED'),
    entry(2, { __typename: 'ErrorEvent', body, failure: 'REPOSITORY_UNAVAILABLE' }),
    entry(3, { __typename: 'SessionMessage', type: 'AGENT_MESSAGE', body }),
    entry(4, { __typename: 'StatusEvent', status: 'ERROR', isArchived: false }),
  ];
  expect(statesOf(failure)).toEqual(['e1 FAILED']);
  const other = entry(2, { __typename: 'ErrorEvent', body: 'Another error.', failure: 'AGENT_FAILED' });
  expect(statesOf([step(1, 'FAILED'), other])).toEqual(['e1 FAILED', 'line']);
});

it('says what a push did', () => {
  const push = {
    pushOutcome: 'ACCEPTED',
    branch: 'words',
    repository: 'git.test/acme/site',
    newCommit: 'abc',
    refusal: null,
    subjects: ['A', 'B'],
  };
  const title = (changes: object) => pushTitle({ ...push, ...changes } as unknown as Parameters<typeof pushTitle>[0]);
  expect(title({})).toBe('Pushed 2 commits to words of git.test/acme/site');
  expect(title({ isForced: true })).toBe('Force-pushed 2 commits to words of git.test/acme/site');
  expect(title({ subjects: ['A'] })).toBe('Pushed 1 commit to words of git.test/acme/site');
  expect(title({ subjects: [] })).toBe('Pushed to words of git.test/acme/site');
  expect(title({ newCommit: null })).toBe('Deleted words of git.test/acme/site');
  expect(title({ pushOutcome: 'REFUSED' })).toBe('Push to words of git.test/acme/site refused');
  expect(title({ branch: 'refs/tags/v1', pushOutcome: 'REFUSED' })).toBe(
    'Push of tag v1 to git.test/acme/site refused',
  );
  expect(title({ branch: 'refs/tags/v1' })).toBe('Pushed tag v1 to git.test/acme/site');
  expect(title({ pushOutcome: 'UNKNOWN' })).toBe('Push to words of git.test/acme/site: outcome unknown');
});

it('names repositories and their bases', () => {
  expect(repositoryName({ host: 'github.com', path: 'acme/site' })).toBe('acme/site');
  expect(repositoryName({ host: 'git.test:3000', path: 'acme/site' })).toBe('git.test:3000/acme/site');
  const none = { baseRef: null, baseCommit: null, requestedRef: null, pullRequestNumber: null };
  const commit = 'a'.repeat(40);
  expect(baseOf(none)).toBe('Default branch');
  expect(baseOf({ ...none, requestedRef: 'release/2' })).toBe('release/2');
  expect(baseOf({ ...none, baseRef: 'main', baseCommit: commit })).toBe('main at aaaaaaa');
  expect(baseOf({ ...none, pullRequestNumber: 7, baseCommit: commit })).toBe('Pull request #7 at aaaaaaa');
  expect(baseOf({ ...none, requestedRef: commit, baseRef: commit, baseCommit: commit })).toBe('aaaaaaa');
});
