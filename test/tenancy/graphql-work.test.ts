import { afterAll, beforeAll, it } from 'vitest';
import { mutationParts, runMutations } from './run-matrix.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('changes no other tenant by any mutation of sessions and their resources', { timeout: 600_000 }, () =>
  runMutations(world, mutationParts.work, 30),
);
