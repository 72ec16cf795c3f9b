import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutationOperations, queryOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Answer, Operation } from './operation.ts';
import { livePrincipals } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { readRows, writtenLater } from './rows.ts';
import { send } from './send.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

/**
 * The number of dead keys that each operation gets: a key is refused before its operation is known, so each key meets a part of
 * the operations of each API, and each operation some of the keys.
 */
const keysEach = 2;

/** Strings that were never tokens, by prefix; `''` has no known prefix, and null is a missing header. */
const garbage = ['apk_user_', 'apk_', 'cog_', 'ghp_'].map((prefix) => `${prefix}${'0'.repeat(52)}`);
const prefixOf = (token: string) => /^(?:apk_user_|apk_|cog_)/.exec(token)?.[0] ?? '';

const shown = ({ status, text, headers }: Answer) => {
  const selected = headers.split('\n').filter((line) => /^(?:www-authenticate|content-type)/.test(line));
  return [status, text, ...selected.toSorted()].join('\n');
};

it('answers 401 to every dead key alike, at every field, mutation and route', { timeout: 600_000 }, async () => {
  const matrix = new Matrix(world);
  const [member] = livePrincipals(world);
  if (!member) throw new Error('There are no principals.');
  const graphql = [...queryOperations(new Set()), ...mutationOperations(new Set())];
  const rest = (await readDocuments(world.test)).flatMap(restOperations);
  let cases = 0;
  const problems: string[] = [];
  const compare = async (operation: Operation, token: string | null, wanted: Answer, what: string) => {
    cases += 1;
    const answer = await send(world, token, operation.call(matrix.fill(member, operation, 0, true)));
    if (answer.status === 401 && shown(answer) === shown(wanted)) return;
    problems.push(`${operation.name} with ${what}: ${shown(answer)} instead of ${shown(wanted)}`);
  };
  const dead = Object.entries(world.dead);
  for (const [n, operation] of [...graphql, ...rest].entries()) {
    const own = operation.call(matrix.fill(member, operation, 0, true));
    const byPrefix = new Map<string, Answer>();
    for (const at of Array.from({ length: keysEach }, (_, each) => n * keysEach + each)) {
      const [what, token] = dead[at % dead.length] as [string, string];
      const prefix = prefixOf(token);
      const unknown = garbage.find((each) => prefixOf(each) === prefix) as string;
      if (!byPrefix.has(prefix)) byPrefix.set(prefix, await send(world, unknown, own));
      await compare(operation, token, byPrefix.get(prefix) as Answer, what);
    }
    const stranger = garbage[n % garbage.length] as string;
    if (!byPrefix.has(prefixOf(stranger))) byPrefix.set(prefixOf(stranger), await send(world, stranger, own));
    // Without a token, all operations of an API give the same response.
    const { status } = await send(world, null, own);
    cases += 1 + byPrefix.size;
    if (![status, ...[...byPrefix.values()].map((each) => each.status)].every((each) => each === 401))
      problems.push(`${operation.name} answers without a token or to garbage, other than 401.`);
  }
  process.stdout.write(`Dead keys: ${cases} cases (operation × key), ${problems.length} that tell one from another\n`);
  expect(problems).toEqual([]);
  const expectedRows = [...world.rows].filter(([table]) => !writtenLater.has(table));
  const found = await readRows(
    world.test,
    expectedRows.map(([table]) => table),
  );
  expect(JSON.stringify([...found])).toBe(JSON.stringify(expectedRows));
  expect(cases).toBeGreaterThan(1_000);
});
