import { expect } from 'vitest';
import { expectLookups, expectPermitted, isWithoutFeature } from './exceptions.ts';
import { mutationOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Operation } from './operation.ts';
import { livePrincipals } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import type { World } from './world.ts';

/** Runs operations as every live principal: no one may read or change another tenant's data. */
export async function runMatrix(world: World, what: string, operations: readonly Operation[]): Promise<Matrix> {
  const matrix = new Matrix(world);
  for (const principal of livePrincipals(world)) {
    for (const operation of operations) await matrix.run(principal, operation);
    // A refused request must not have written anything; the effects of others have been undone.
    await matrix.settle(principal, what, false);
  }
  process.stdout.write(`${matrix.summary(what)}\n`);
  expect(matrix.problems).toEqual([]);
  const failed = operations
    .map(({ name }) => name)
    .filter((name) => !matrix.succeeded.has(name) && !isWithoutFeature(name));
  expect(
    failed,
    'Nobody brought these to a good end: a rule for what they are given is missing (test/tenancy/inputs.ts, rest-operations.ts), or a thing (tenant.ts).',
  ).toEqual([]);
  expectLookups(matrix, operations);
  expectPermitted(matrix);
  return matrix;
}

/** Runs the selected routes of all documents; expects at least `least` cases. */
export async function runRoutes(world: World, isWanted: (path: string) => boolean, minCases: number): Promise<void> {
  const operations = (await readDocuments(world.test)).flatMap(restOperations).filter(({ path }) => isWanted(path));
  const matrix = await runMatrix(world, 'REST routes', operations);
  expect(matrix.cases.size).toBeGreaterThan(minCases);
}

/** Runs the selected mutations; expects at least this many cases. */
export async function runMutations(world: World, isWanted: (name: string) => boolean, minCases: number): Promise<void> {
  const operations = mutationOperations(new Set()).filter(({ name }) => isWanted(name));
  const matrix = await runMatrix(world, 'GraphQL mutations', operations);
  expect(matrix.cases.size).toBeGreaterThan(minCases);
}

const administers = /User|Role|ApiKey|Organization|IpAccess|AcuLimit|Member|(?:install|remove|check)Agent$/;

/** The groups in which mutations are tested; each mutation is in one group. */
export const mutationParts = {
  administration: (name: string) => administers.test(name),
  work: (name: string) => !administers.test(name),
} as const;

const ofOrganization = /^\/v3(?:beta1)?\/organizations\//;
const ofItsOrganizations = /^\/v3(?:beta1)?\/enterprise\/organizations/;
const ofV3 = /^\/v3/;

/** The groups in which routes are tested; each path is in one group. */
export const routeParts = {
  organizations: (path: string) => ofOrganization.test(path),
  itsOrganizations: (path: string) => ofItsOrganizations.test(path),
  enterprise: (path: string) => ofV3.test(path) && !ofOrganization.test(path) && !ofItsOrganizations.test(path),
  earlier: (path: string) => !ofV3.test(path),
} as const;
