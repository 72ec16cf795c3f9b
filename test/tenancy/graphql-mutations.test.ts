import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutationOperations } from './graphql-operations.ts';
import { walkAll } from './walk.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('lets nobody touch another tenant by any mutation', { timeout: 240_000 }, async () => {
  const matrix = await walkAll(world, 'GraphQL mutations', mutationOperations(new Set()));
  expect(matrix.cases.size).toBeGreaterThan(140);
});
