import { afterAll, beforeAll, it } from 'vitest';
import { mutationParts, runMutations } from './run-matrix.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('lets nobody touch another tenant by any mutation of sessions and what they work with', { timeout: 600_000 }, () =>
  runMutations(world, mutationParts.work, 30),
);
