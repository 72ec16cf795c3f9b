import { afterAll, beforeAll, it } from 'vitest';
import { mutationParts, walkMutations } from './walk.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('lets nobody touch another tenant by any mutation of sessions and what they work with', { timeout: 600_000 }, () =>
  walkMutations(world, mutationParts.work, 30),
);
