import { afterAll, beforeAll, expect, it } from 'vitest';
import { allFields, pathsFromQuery } from './documents.ts';
import { expectLookups } from './exceptions.ts';
import { queryOperations, type Seen } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import { livePrincipals } from './principals.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

/** Fields that no principal of the matrix has anything in; each with its reason. */
const unread: Readonly<Record<string, string>> = {};

it('tells nobody of another tenant by any field of any type', { timeout: 180_000 }, async () => {
  const seen: Seen = new Set();
  const matrix = new Matrix(world);
  const operations = queryOperations(seen);
  for (const principal of livePrincipals(world)) {
    for (const operation of operations) await matrix.walk(principal, operation);
    await matrix.settle(principal, 'A query', false);
  }
  process.stdout.write(`${matrix.summary('GraphQL fields')}\n`);
  expect(matrix.problems).toEqual([]);
  const missing = allFields(pathsFromQuery().keys()).filter((field) => !seen.has(field) && !(field in unread));
  expect(missing, 'Nobody could read these: the world lacks such a thing (test/tenancy/tenant.ts).').toEqual([]);
  expectLookups(matrix, operations);
  expect(matrix.cases.size).toBeGreaterThan(800);
});
