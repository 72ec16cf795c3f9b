import { afterAll, beforeAll, it } from 'vitest';
import { routeParts, runRoutes } from './run-matrix.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('reveals and changes no other tenant by any route of the earlier versions', { timeout: 600_000 }, () =>
  runRoutes(world, routeParts.earlier, 180),
);
