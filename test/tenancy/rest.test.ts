import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectLookups, expectPermitted } from './exceptions.ts';
import { Matrix } from './matrix.ts';
import { livePrincipals } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('tells nobody of another tenant, and lets nobody touch one, by any route', { timeout: 240_000 }, async () => {
  const matrix = new Matrix(world);
  const operations = (await readDocuments(world.test)).flatMap(restOperations);
  for (const principal of livePrincipals(world)) {
    for (const operation of operations) await matrix.walk(principal, operation);
    await matrix.settle(principal, 'A route', false);
  }
  process.stdout.write(`${matrix.summary('REST routes')}\n`);
  expect(matrix.problems).toEqual([]);
  const failed = operations.map(({ name }) => name).filter((name) => !matrix.succeeded.has(name));
  expect(
    failed,
    'Nobody brought these to a good end: a rule for their input is missing (test/tenancy/rest-operations.ts).',
  ).toEqual([]);
  expectLookups(matrix, operations);
  expectPermitted(matrix);
  expect(matrix.cases.size).toBeGreaterThan(250);
});
