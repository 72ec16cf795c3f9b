import { it as always, expect } from 'vitest';
import { readsOf, startReplicated } from '../support/read-replicas.ts';
import { answerOf, replicatedLists } from '../support/replicated-lists.ts';
import { testDatabase } from '../support/test-store.ts';
import { livePrincipals } from './principals.ts';
import { startWorld } from './world.ts';

const it = always.skipIf(testDatabase !== 'postgres');

it('answers the lists of each principal from a replica as from the primary, with the same refusals', async () => {
  const world = await startWorld();
  try {
    const { start, startPlain } = await startReplicated(world.test);
    const sameUrls = { baseUrl: 'http://service.example' };
    const [test, plain] = [await start(sameUrls), await startPlain(sameUrls)];
    for (const { name, token } of livePrincipals(world)) {
      for (const id of world.tenantIds.organizations.keys()) {
        for (const [list, request] of Object.entries(replicatedLists(id))) {
          const [found, expected] = [
            await answerOf(test, token, request, id),
            await answerOf(plain, token, request, id),
          ];
          expect({ name, id, list, ...found }).toEqual({ name, id, list, ...expected });
        }
      }
    }
    expect(readsOf(test)).toMatchObject({ primary: 0, isUsable: true });
    expect(readsOf(test).replica).toBeGreaterThan(100);
  } finally {
    await world.test.close();
  }
}, 600_000);
