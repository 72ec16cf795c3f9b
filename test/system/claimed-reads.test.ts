import { expect, it } from 'vitest';
import { claimReads, nextReadAt } from '../../src/domain/followed-pull-requests/claim-reads.ts';
import { pruneGitDeliveries } from '../../src/domain/git-deliveries/prune-deliveries.ts';
import { newId } from '../../src/domain/ids.ts';
import { stopClock } from '../support/clock.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** Creates a connection with pull requests that are due, the oldest first; `wanted`: the number of one that an event asks for. */
async function connectWith(count: number, wanted: number | null = null): Promise<string> {
  const { id } = await connectForgeAt(test, 'github.com');
  const { store, now } = test.app.services;
  const at = now().getTime();
  const rows = Array.from({ length: count }, (_, n) => ({
    ...{ id: newId(), gitConnectionId: id, path: 'acme/site', pathKey: 'acme/site', number: n + 1 },
    ...{ dueAt: new Date(at - 1_000 * (count - n)), wantedAt: n + 1 === wanted ? now() : null, createdAt: now() },
  }));
  await store.transact(async (tx) => void (await tx.prisma.followedPullRequest.createMany({ data: rows })));
  return id;
}

it('claims the reads of all connections in turn, those of events first, and each once', async () => {
  const clock = stopClock(test);
  const [large, small] = [await connectWith(30, 30), await connectWith(1)];
  const { services } = test.app;
  const none = new Map<string, number>();
  const claim = async (limit: number, busy: ReadonlyMap<string, number> = none) =>
    (await claimReads(services, busy, limit)).map((each) => `${each.gitConnectionId} ${each.number}`).sort();
  const sorted = (...names: string[]) => names.sort();
  expect(await claim(2)).toEqual(sorted(`${large} 30`, `${small} 1`));
  expect(await claim(100, new Map([[large, 1]]))).toEqual(sorted(`${large} 1`, `${large} 2`));
  expect(await claim(100, new Map([[large, 3]]))).toEqual([]);
  // The claims of a process that died expire.
  expect(await claim(100)).toEqual(sorted(`${large} 3`, `${large} 4`, `${large} 5`));
  clock.advance(61_000);
  expect(await claim(1, new Map([[large, 3]]))).toEqual([`${small} 1`]);
});

it('limits the polls of a connection in a minute, but not the reads that events ask for', async () => {
  const { services } = test.app;
  const clock = stopClock(test);
  const id = await connectWith(20, 20);
  const { store, now } = services;
  await store.execute(
    `update followed_pull_request set read_at = $2::timestamptz where git_connection_id = $1 and number <= 15 returning id`,
    [id, now()],
  );
  const others = new Map([[id, 0]]);
  for (const { id: other } of await store.query<{ id: string }>('select id from git_connection where id <> $1', [id])) {
    others.set(other, 3);
  }
  const numbers = async () => (await claimReads(services, others, 100)).map(({ number }) => number).sort();
  expect(await numbers()).toEqual([20]);
  expect(await numbers()).toEqual([]);
  expect((await nextReadAt(services, others))?.getTime()).toBe(now().getTime() + 5_000);
  clock.advance(60_000);
  expect(await numbers()).toEqual([1, 2, 3]);
});

it('leaves nothing of a deleted connection', async () => {
  const id = await connectWith(2);
  const { store } = test.app.services;
  await runMutation(test, 'deleteGitConnection', 'deletedGitConnectionId', { gitConnectionId: `git-connection-${id}` });
  await pruneGitDeliveries(test.app.services, () => false);
  expect(await store.query('select id from followed_pull_request where git_connection_id = $1', [id])).toEqual([]);
});
