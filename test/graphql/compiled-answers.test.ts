import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { planDocument } from '../../src/api/graphql/plans/plan.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { globalId } from '../../src/domain/ids.ts';
import { makeUser } from '../support/principals.ts';
import { type RandomDocument, randomDocument } from '../support/random-documents.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let ids: string[];
let tokens: string[];
beforeAll(async () => {
  const { organizationId, token } = await makeOrganization(test, 'Compiled');
  const user = await makeUser(test, { organizationId });
  const sessions = [
    await createSession(test, { organizationId, prompt: 'one', tags: ['one'] }, token),
    await createSession(test, { organizationId, prompt: 'two' }, user.token),
  ];
  for (const id of sessions) await say(test, id, 'a', 'b', 'c', 'd');
  const other = await makeOrganization(test, 'Another');
  const bare = (id: string) => id.replace(/^[a-z-]+-/, '');
  ids = [
    ...Array.from({ length: 6 }, () => globalId('organization', bare(organizationId))),
    ...sessions.flatMap((id) => [id, globalId('session', bare(id))]),
    globalId('organization', bare(other.organizationId)),
    globalId('user', bare(user.userId)),
    'nothing',
  ];
  tokens = [test.adminToken, token, user.token];
});

/** Fields with a different value each time. */
const without = new Set(['Query.rateLimit', 'Query.changesCursor']);

async function send(token: string, { query, variables }: RandomDocument, accept: string) {
  const response = await fetch(`${test.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, variables }),
  });
  const { status, headers } = response;
  const { errors, ...rest } = (await response.json()) as { data: unknown; errors?: { path?: (string | number)[] }[] };
  const errorPaths = [...new Set(errors?.map((error) => tellable(rest.data, error)))].sort();
  // Compression depends on the length, which depends on the reported errors.
  const isByChance = errorPaths.some((path) => path.startsWith('null at '));
  const names = ['content-type', 'vary', ...(isByChance ? [] : ['content-encoding'])];
  const shownHeaders = Object.fromEntries(names.map((name) => [name, headers.get(name)]));
  return { status, shownHeaders, ...rest, errors: errorPaths };
}

// If several fields are read concurrently, any of them may fail first; if that nulls their parent, the others may or may not be
// reported. So a null caused by an error inside it is compared by its position only.
function tellable(data: unknown, error: { path?: (string | number)[] }): string {
  let value = data;
  for (const [n, step] of (error.path ?? []).entries()) {
    if (value === null) return `null at ${error.path?.slice(0, n).join('.')}`;
    value = (value as Record<string | number, unknown>)[step];
  }
  return JSON.stringify(error);
}

it('a query has the same result in the plain executor, compiled, and on the fast path', async () => {
  const seen = { compiled: 0, errors: 0 };
  const anySeed = fc.integer();
  await fc.assert(
    fc.asyncProperty(anySeed, fc.nat(2), async (seed, tokenIndex) => {
      const made = randomDocument({ schema, ids, without }, seed);
      const document = parse(made.query);
      expect(validate(schema, document)).toEqual([]);
      const token = tokens[tokenIndex] as string;
      // A new text, which the service runs without compilation.
      const plain = await send(token, made, 'application/json');
      const fast = await send(token, made, 'application/json');
      expect(fast).toEqual(plain);
      const { shownHeaders: _, ...full } = await send(token, made, 'application/graphql-response+json');
      expect(full).toEqual((({ shownHeaders: __, ...rest }) => rest)(plain));
      if (planDocument(schema, document).find(null)?.compiled(made.variables)) seen.compiled += 1;
      if (plain.errors.length > 0) seen.errors += 1;
    }),
    { numRuns: 150, seed: Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31) },
  );
  // Otherwise there would be nothing to compare.
  expect(seen.compiled).toBeGreaterThan(100);
  expect(seen.errors).toBeGreaterThan(5);
}, 180_000);

const size = fc.constantFrom(
  '',
  'first: 1',
  'last: 1',
  'first: 2',
  'last: 3',
  'first: 101',
  'first: 1, last: 1',
  'first: $n',
);
const cursorArgument = fc.constantFrom('', '', '', 'after: $cursor', 'before: $cursor', 'after: "none"', 'after: null');
const order = fc.constantFrom(
  '',
  'filter: {isArchived: false}',
  'filter: {tags: ["one"]}',
  'orderBy: {field: UPDATED_AT, direction: ASC}',
);
const argsOf = (...args: string[]) => (args.some(Boolean) ? `(${args.filter(Boolean).join(', ')})` : '');
const logFields =
  'edges { cursor node { id type body createdAt seq kind author { __typename } } } pageInfo { hasNextPage hasPreviousPage endCursor }';

/** Pages of an organization's sessions and their messages, which are read ahead: with many arguments, some of them refused. */
const anyPage = fc
  .record({
    size,
    cursor: cursorArgument,
    order,
    ofLog: fc.tuple(size, cursorArgument),
    another: fc.nat(9),
    isInNodes: fc.boolean(),
  })
  .map(({ size, cursor, order, ofLog, another, isInNodes }) => {
    const log = `messages${argsOf(...ofLog)} { ${logFields} }`;
    const node = `sessionId tags updatedAt ${log} ${another === 1 ? 'more: messages(last: 1) { nodes { seq } }' : ''}`;
    const sessions = `sessions${argsOf(size, cursor, order)} { ${isInNodes ? `nodes { ${node} }` : `edges { cursor node { ${node} } }`} pageInfo { hasNextPage hasPreviousPage } totalCount }`;
    return `name ${sessions} ${another === 2 ? `again: sessions(first: 1) { nodes { ${log} } }` : ''}`;
  });

/** The first session of an organization and its second message. */
interface SessionCursors {
  organization: {
    sessions: { edges: [{ cursor: string; node: { messages: { edges: [{ cursor: string }, { cursor: string }] } } }] };
  };
}

it('read-ahead returns the same as separate reads', async () => {
  const [organization] = ids as [string];
  const cursors = await send(
    tokens[1] as string,
    {
      query: `{ organization(id: "${organization}") { sessions { edges { cursor node { messages { edges { cursor } } } } } } }`,
      variables: {},
    },
    'application/json',
  );
  const [first] = (cursors.data as SessionCursors).organization.sessions.edges;
  const existingCursor = fc.constantFrom<string>(first.cursor, first.node.messages.edges[1].cursor);
  const seen = { count: 0, answered: 0 };
  await fc.assert(
    fc.asyncProperty(
      anyPage,
      existingCursor,
      fc.nat(2),
      fc.constantFrom(...ids),
      async (fields, cursor, tokenIndex, id) => {
        const query = `query Q${++seen.count}($n: Int, $cursor: String) { __typename organization(id: "${id}") { ${fields} } }`;
        const used = ['$n', '$cursor'].filter((name) => query.indexOf(name) !== query.lastIndexOf(name));
        const declared = used.map((name) => (name === '$n' ? '$n: Int' : '$cursor: String'));
        const made = {
          query: query.replace('($n: Int, $cursor: String)', argsOf(...declared)),
          variables: { n: 2, cursor },
        };
        const token = tokens[tokenIndex] as string;
        expect(validate(schema, parse(made.query))).toEqual([]);
        const plain = await send(token, made, 'application/json');
        if (plain.errors.length === 0 && (plain.data as { organization: unknown }).organization) seen.answered += 1;
        expect(await send(token, made, 'application/json')).toEqual(plain);
      },
    ),
    { numRuns: 200, seed: Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31) },
  );
  expect(seen.answered).toBeGreaterThan(10);
}, 180_000);
