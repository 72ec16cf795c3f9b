import { afterAll, beforeAll, expect, it } from 'vitest';
import { allFields, pathsFromQuery, schema } from './documents.ts';
import { mutationOperations, queryOperations, type Seen } from './graphql-operations.ts';
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
  expect(matrix.cases.size).toBeGreaterThan(500);
});

it('lets nobody touch another tenant by any mutation', { timeout: 180_000 }, async () => {
  const seen: Seen = new Set();
  const matrix = new Matrix(world);
  const operations = mutationOperations(seen);
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
  expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toHaveLength(operations.length);
});
