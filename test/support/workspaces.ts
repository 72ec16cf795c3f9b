import { expect } from 'vitest';
import { createLocalWorkspaces } from '../../src/agents/sandbox/local/local-workspaces.ts';
import { sessionIn } from '../../src/agents/sandbox/local/session-directories.ts';
import { deleteDiscarded, type SweepOptions, sweepWorkspaces } from '../../src/domain/execution/workspaces/sweep.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { graphql, type TestApp } from './app.ts';

const dayMs = 86_400_000;
const never = () => false;

/** Returns the directory of a session's workspace and home, by the unprefixed id. */
export const directoryOf = (test: TestApp, id: string) => sessionIn(test.dataDir, id);

/** Returns the id of the worker that last ran a session. */
export async function homeWorkerOf(test: TestApp, id: string): Promise<string> {
  const [row] = await test.app.services.store.query<{ worker: string }>(
    'select home_worker_id as worker from run where session_id = $1',
    [id],
  );
  return row?.worker as string;
}

/** Cleans up the app's data directory like its worker does every ten minutes. */
export async function sweep(test: TestApp, options: Partial<SweepOptions> & { workerId: string }): Promise<number> {
  const context = asSystem(test.app.services, test.app.installation.enterpriseId);
  const times = { workspaceRetentionMs: 14 * dayMs, workspaceInactiveMs: 90 * dayMs, workspaceReleaseMs: null };
  const workspaces = [createLocalWorkspaces(test.dataDir)];
  const count = await sweepWorkspaces(context, { workspaces, ...times, isLeased: never, ...options }, never);
  await deleteDiscarded(context, workspaces, never);
  return count;
}

/** Resolves when no worker has a lease on the session. */
export const waitUntilReleased = (test: TestApp, id: string) =>
  expect
    .poll(() => test.app.services.store.query('select 1 from lease where session_id = $1', [id]), { interval: 20 })
    .toEqual([]);

/** Returns the time at which a session's workspace was deleted, as in GraphQL. */
export const readDeletedAt = async (test: TestApp, id: string): Promise<string | null> =>
  (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { workspaceDeletedAt } }', { id })).data
    .session.workspaceDeletedAt;
