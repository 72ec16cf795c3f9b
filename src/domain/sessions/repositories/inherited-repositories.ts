import type { Transaction } from '../../../store/store.ts';

/** A repository of a session, for the sessions that begin with its files. */
export interface InheritedRepository {
  /** Unprefixed. */
  readonly repositoryId: string;
  readonly requestedRef: string | null;
  readonly pullRequestNumber: number | null;
  readonly directory: string;
  /** The branch of the session, which its clone is on unless the agent has changed that. */
  readonly branch: string;
  readonly baseRef: string | null;
  readonly baseCommit: string | null;
  /** False: its clone was not ready, so a session that inherits it clones it. */
  readonly isCloned: boolean;
}

/** Reads the repositories of a session, in order, for sessions that begin with its files. They are at most twenty. */
export async function readInheritedRepositories(
  tx: Transaction,
  sessionId: string,
): Promise<readonly InheritedRepository[]> {
  const rows = await tx.prisma.sessionRepository.findMany({
    where: { sessionId },
    orderBy: { position: 'asc' },
    select: {
      repositoryId: true,
      requestedRef: true,
      pullRequestNumber: true,
      directory: true,
      branch: true,
      baseRef: true,
      baseCommit: true,
      state: true,
    },
  });
  return rows.map(({ state, ...row }) => ({ ...row, isCloned: state === 'READY' }));
}
