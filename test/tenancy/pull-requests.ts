import { newId } from '../../src/domain/ids.ts';
import type { Transaction } from '../../src/store/store.ts';

/** Options of {@link seedPullRequest}. */
export interface SeedPullRequest {
  readonly organizationId: string;
  /** Of a repository of the session. */
  readonly repositoryId: string;
  readonly sessionId: string;
  readonly url: string;
  readonly createdAt: Date;
  readonly canary: (name: string) => string;
}

/** Seeds the details of a session's pull request, a follow-up of it, a pull request that is being opened, a review that is being posted, and the mention that started the session. */
export async function seedPullRequest(
  tx: Transaction,
  { organizationId, repositoryId, sessionId, url, createdAt, canary }: SeedPullRequest,
): Promise<void> {
  const both = { sessionId, repositoryId: newId(), headBranch: canary('head'), baseBranch: canary('base') };
  await tx.prisma.pullRequest.create({
    data: {
      ...{ ...both, url, number: 1, title: canary('title'), isDraft: true, headCommit: canary('commit') },
      ...{ readAt: createdAt, openedAt: createdAt, mergedAt: createdAt, closedAt: createdAt },
      ...{ followUpMode: 'suggest', followUpStop: 'checks', followUpsSince: createdAt, followUpResumedAt: createdAt },
      checksPassedAt: createdAt,
      checks: [{ id: canary('check'), name: canary('check'), state: 'failed', url }],
      reviews: [{ author: canary('reviewer'), state: 'approved', url, submittedAt: createdAt.toISOString() }],
    },
  });
  // The address that the operations of the matrix send.
  const sent = { url: 'https://walk.example/', number: 2, title: canary('title'), isDraft: false, readAt: createdAt };
  await tx.prisma.pullRequest.create({ data: { ...both, ...sent } });
  await tx.prisma.followUp.create({
    data: {
      ...{ id: newId(), sessionId, url, key: canary('key'), kind: 'checks', state: 'suggested', chain: 1 },
      ...{ summary: canary('summary'), body: canary('body'), commentIds: [canary('comment')] },
      ...{ createdAt, settledAt: createdAt },
    },
  });
  const request = { title: canary('title') };
  const claimedUntilAt = new Date('2100-01-01');
  const pullRequest = { title: canary('title'), body: canary('body'), author: null, headBranch: 'x', baseBranch: 'y' };
  await tx.prisma.sessionReview.create({
    data: {
      ...{
        sessionId,
        organizationId,
        repositoryId,
        number: 2,
        url: `${url}2`,
        headCommit: canary('commit'),
        pullRequest,
      },
      ...{ request: { body: canary('review') }, claimedUntilAt, reviewUrl: url, createdAt },
    },
  });
  const { enterpriseId } = await tx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
  await tx.prisma.mention.create({
    data: {
      ...{ id: newId(), enterpriseId, gitConnectionId: newId(), host: canary('host'), path: canary('mention-path') },
      ...{
        pathKey: canary('mention-path'),
        sourceKey: `${canary('mention-key')} ${sessionId}`,
        number: 1,
        isPullRequest: true,
        url,
      },
      ...{ authorLogin: canary('mention-author'), body: '', title: '', description: '', status: 'done' },
      ...{ organizationId, sessionId, isStart: true, createdAt },
    },
  });
  await tx.prisma.pullRequestIntent.create({ data: { ...both, id: newId(), request, claimedUntilAt, createdAt } });
}
