import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectLookups, expectPermitted } from './exceptions.ts';
import { mutationOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import { livePrincipals } from './principals.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('lets nobody touch another tenant by any mutation', { timeout: 240_000 }, async () => {
  const matrix = new Matrix(world);
  const operations = mutationOperations(new Set());
  for (const principal of livePrincipals(world)) {
    for (const operation of operations) await matrix.walk(principal, operation);
    await matrix.settle(principal, 'A mutation', false);
  }
  process.stdout.write(`${matrix.summary('GraphQL mutations')}\n`);
  expect(matrix.problems).toEqual([]);
  const failed = operations.map(({ name }) => name).filter((name) => !matrix.succeeded.has(name));
  expect(
    failed,
    'Nobody brought these to a good end: a rule for their input is missing (test/tenancy/inputs.ts).',
  ).toEqual([]);
  expectLookups(matrix, operations);
  expectPermitted(matrix);
  expect(matrix.cases.size).toBeGreaterThan(140);
});
