import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutationOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Answer, HttpCall, Operation } from './operation.ts';
import { livePrincipals, type Principal, strangers } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { tellingStrings } from './rows.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

const key = 'the-same-key-of-everybody';

it('never returns the result of another principal’s idempotency key', { timeout: 600_000 }, async () => {
  const matrix = new Matrix(world);
  const known = new Set([...world.rows.values()].flat().flatMap((row) => [...tellingStrings(JSON.stringify(row))]));
  const everybody = [...strangers(world).map(({ principal }) => principal), ...livePrincipals(world)];
  const replayed = new Set<string>();
  const operations = await idempotentOperations();
  for (const { operation, call } of operations) {
    const makers = new Map<string, string>();
    for (const principal of everybody) {
      const send = () => matrix.check(principal, operation.name, call(principal, matrix));
      const first = await send();
      if (!operation.isSuccess(first)) continue;
      const made = newIds(first, known);
      for (const id of made) {
        const maker = makers.get(id);
        if (maker !== undefined && maker !== makerOf(operation, principal))
          matrix.problems.push(
            `${operation.name} gives ${principal.name} what ${maker} made: ${first.text.slice(0, 300)}`,
          );
        makers.set(id, makerOf(operation, principal));
      }
      // The key is effective: the same caller gets the same result again.
      const again = newIds(await send(), known);
      if (made.length > 0 && made.join() === again.join()) replayed.add(operation.name);
      else if (made.length > 0)
        matrix.problems.push(`${operation.name} as ${principal.name} made another the second time.`);
    }
    const all: Principal = { ...(everybody[0] as Principal), mayChange: ['A', 'B', 'D', 'E', 'X', 'public'] };
    await matrix.settle(all, operation.name, true);
  }
  process.stdout.write(`${matrix.summary('Idempotency keys')}\n`);
  expect(matrix.problems).toEqual([]);
  expect([...replayed]).toContain('Mutation.createSession');
  expect([...replayed]).toContain('POST /v3/organizations/{org_id}/sessions');
  expect(operations.length).toBeGreaterThan(4);
});

interface IdempotentOperation {
  readonly operation: Operation;
  call(principal: Principal, matrix: Matrix): HttpCall;
}

async function idempotentOperations(): Promise<IdempotentOperation[]> {
  const mutations = mutationOperations(new Set()).flatMap((operation): IdempotentOperation[] => {
    const keyField = operation.texts.find((name) => name.endsWith('.idempotencyKey'));
    if (keyField === undefined) return [];
    const texts = new Map([[keyField, key]]);
    // With an explicit organization, where possible.
    return [
      { operation, call: (principal, matrix) => operation.call({ ...filled(principal, operation, matrix), texts }) },
    ];
  });
  const routes = (await readDocuments(world.test)).flatMap(restOperations).filter((each) => each.takesIdempotencyKey);
  return [
    ...mutations,
    ...routes.map(
      (operation): IdempotentOperation => ({
        operation,
        call: (principal, matrix) => ({
          ...operation.call(filled(principal, operation, matrix)),
          headers: { 'idempotency-key': key },
        }),
      }),
    ),
  ];
}

function filled(principal: Principal, operation: Operation, matrix: Matrix) {
  const minimal = matrix.fill(principal, operation, 0, false);
  const organizationSlot = operation.slots.find((slot) => slot.kinds.includes('organization'));
  const organization =
    organizationSlot &&
    matrix.fill(principal, operation, 0, false, organizationSlot.name).ids.get(organizationSlot.name);
  return organization ? { ...minimal, ids: new Map([...minimal.ids, [organizationSlot.name, organization]]) } : minimal;
}

/** Operations that belong to the enterprise and to no organization. */
const ofEnterprise: ReadonlySet<string> = new Set([
  'Mutation.createLegalHold',
  'Mutation.createOrganization',
  'Mutation.createRole',
  'Mutation.inviteUsers',
]);

/** A key belongs to one principal in one organization or in the enterprise, for each of the principal's tokens. */
const makerOf = ({ name }: Operation, { principalId, home }: Principal) =>
  ofEnterprise.has(name) ? principalId : `${principalId} in ${home[0]}`;

/** Values that only the first call returns. */
const shownOnce = /"(?:token|secret|webhookSecret)":"[^"]*"/g;

function newIds(answer: Answer, known: ReadonlySet<string>): string[] {
  return [...tellingStrings(answer.text.replace(shownOnce, ''))].filter((each) => !known.has(each)).toSorted();
}
