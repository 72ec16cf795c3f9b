import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { otherId } from '../support/principals.ts';
import { fieldsOf, pathsFromQuery } from './documents.ts';
import { isAlwaysEmpty } from './exceptions.ts';
import { queryOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Answer, Operation } from './operation.ts';
import { livePrincipals, type Principal, strangers } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { comparable } from './send.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

it('treats a cursor of another tenant’s list like one of an unknown object', { timeout: 600_000 }, async () => {
  const matrix = new Matrix(world);
  const lists = [...graphqlLists(), ...(await readDocuments(world.test)).flatMap(restOperations).filter(isList)];
  // One kind of key for each set of rights: a cursor does not know the key.
  const principals = livePrincipals(world).filter(({ name, rights }) => name === rights);
  const used = new Set<string>();
  const turned = new Set<string>();
  for (const { tenant, principal: stranger } of strangers(world)) {
    for (const operation of lists) {
      const cursor = await findCursor(matrix, stranger, operation);
      if (cursor === null) continue;
      used.add(operation.name);
      for (const principal of principals) {
        // A principal that may see the object may have this cursor.
        if (!idsIn(cursor).every((id) => principal.hidden.has(id))) continue;
        // Each direction once: the direction of a page does not depend on the reader.
        const [first = '', ...others] = cursorFields(operation);
        const both = turned.has(operation.name) ? [first] : [first, ...others];
        turned.add(operation.name);
        for (const field of both) await tryCursor(matrix, principal, operation, { field, cursor, tenant });
      }
    }
  }
  process.stdout.write(`${matrix.summary('Cursors')}\n`);
  expect(matrix.problems).toEqual([]);
  const unused = lists
    .map(({ name }) => name)
    .filter((name) => !used.has(name) && !isAlwaysEmpty(name) && !ofOthers.has(name));
  expect(unused, 'Neither B nor X has anything on these pages: plant it in test/tenancy/tenant.ts.').toEqual([]);
});

function graphqlLists(): Operation[] {
  const pages = new Set<string>();
  for (const type of pathsFromQuery().keys()) {
    for (const field of fieldsOf(type as GraphQLObjectType)) {
      const isPage = isObjectType(getNamedType(field.type)) && field.args.some(({ name }) => name === 'after');
      if (isPage) pages.add(`${type.name}.${field.name}`);
    }
  }
  return queryOperations(new Set()).filter(({ name }) => pages.has(name));
}

// With `first`: in versions 1 and 2, `after` is a time.
const isList = (operation: Operation & { parameters: readonly { name: string }[] }) =>
  ['first', 'after'].every((wanted) => operation.parameters.some(({ name }) => name === wanted));

/** Lists of the strangers' own objects, which are empty. `Query.sessions` takes the same cursors. */
const ofOthers: ReadonlySet<string> = new Set(['Viewer.sessions']);

/** The names of an operation's text arguments that take cursors. */
function cursorFields(operation: Operation): string[] {
  const inGraphql = operation.texts.filter((name) => /[:.](?:after|before)$/.test(name));
  return inGraphql.length > 0 ? inGraphql : ['query:.after'];
}

async function findCursor(matrix: Matrix, stranger: Principal, operation: Operation): Promise<string | null> {
  const answer = await matrix.check(
    stranger,
    operation.name,
    operation.call(matrix.fill(stranger, operation, 0, false)),
  );
  return /"(?:endCursor|end_cursor)":"([^"]+)"/.exec(answer.text)?.[1] ?? null;
}

const decode = (cursor: string) => Buffer.from(cursor, 'base64url').toString('latin1');
const idsIn = (cursor: string): string[] => decode(cursor).match(/[0-9a-f]{32}/g) ?? [];

async function tryCursor(
  matrix: Matrix,
  principal: Principal,
  operation: Operation,
  { field, cursor, tenant }: { field: string; cursor: string; tenant: string },
): Promise<void> {
  const fill = matrix.fill(principal, operation, 0, false);
  const ask = (text: string) =>
    matrix.check(principal, operation.name, operation.call({ ...fill, texts: new Map([[field, text]]) }));
  // The same position in the list, but with an unknown id: a page continues from a position, even if no object is
  // there.
  const never = decode(cursor).replace(/[0-9a-f]{32}/g, otherId);
  const neverCursor = Buffer.from(never, 'latin1').toString('base64url');
  const there = await ask(cursor);
  const nowhere = await ask(neverCursor);
  const same = (answer: Answer, sent: string) => comparable(answer, [sent, sent.slice(0, 60), ...idsIn(sent)]);
  if (same(there, cursor) === same(nowhere, neverCursor)) return;
  matrix.problems.push(
    `${operation.name} as ${principal.name} tells a cursor of ${tenant} from one of nothing: ${there.text.slice(0, 300)} instead of ${nowhere.text.slice(0, 300)}`,
  );
}
