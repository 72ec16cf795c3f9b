import { afterEach, expect, it } from 'vitest';
import { mutationOperations, queryOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Operation } from './operation.ts';
import { livePrincipals } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { startWorld, type World } from './world.ts';

/** A check removed from the domain's SQL, and the problem that the matrix must then report. */
interface InjectedFault {
  readonly what: string;
  readonly from: string | RegExp;
  readonly to: string;
  readonly as: string;
  readonly isTested: (operation: Operation) => boolean;
  readonly finds: RegExp;
}

const faults: readonly InjectedFault[] = [
  {
    what: 'the enterprise of a session (findSessions)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: '$2::text is not null and o.deleted_at is null and',
    as: 'an account_admin',
    isTested: ({ name }) => name === 'Query.session',
    finds: /^Query\.session as an account_admin leaks .*canary-x-title/,
  },
  {
    what: 'the organization of a session (findSessions)',
    from: '($3::boolean or s.organization_id = any($4::text[]))',
    to: '($3::boolean is not null and $4::text[] is not null)',
    as: 'a member’s personal access token',
    isTested: ({ name }) => name === 'Query.node(SessionMessage)',
    finds: /^Query\.node\(SessionMessage\) as a member’s personal access token leaks .*canary-b-message/,
  },
  {
    what: 'that a deleted organization’s sessions are gone (findSessions)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: 'o.enterprise_id = $2 and',
    as: 'an account_admin',
    isTested: ({ name }) => name === 'Query.session',
    finds: /^Query\.session as an account_admin tells 0:id of D from what never existed/,
  },
  {
    what: 'the enterprise of a session, for an act (getSessionFor)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: '$2::text is not null and o.deleted_at is null and',
    as: 'a service user of the enterprise',
    isTested: ({ name }) => name === 'Mutation.terminateSession',
    finds:
      /^Mutation\.terminateSession as a service user of the enterprise changes rows that are not its tenant’s, in "session"/,
  },
  {
    what: 'the organization of a list (useOrganization)',
    from: /s\.organization_id = (\$\d+) and/g,
    to: '$1::text is not null and',
    as: 'an org_admin',
    isTested: ({ name }) => name === 'GET /v3/organizations/{org_id}/sessions',
    finds: /^GET \/v3\/organizations\/\{org_id\}\/sessions as an org_admin leaks .*canary-[bx]-title/,
  },
  {
    what: 'the enterprise of a user (findUsers)',
    from: /where u\.id = any\(\$1::text\[\]\) and\s+u\.enterprise_id = \$2/g,
    to: 'where u.id = any($1::text[]) and $2::text is not null',
    as: 'an account_admin',
    isTested: ({ name }) => name === 'Query.node(User)',
    finds: /^Query\.node\(User\) as an account_admin leaks .*canary-x-/,
  },
  {
    what: 'the enterprise of an audit log (listAuditLog)',
    from: 'e.enterprise_id = $1',
    to: '$1::text is not null',
    as: 'a service user of the enterprise',
    isTested: ({ name }) => name === 'GET /v3/enterprise/audit-logs',
    finds: /^GET \/v3\/enterprise\/audit-logs as a service user of the enterprise leaks /,
  },
  {
    what: 'the enterprise of a key, for an act (revokeApiKey)',
    from: /k\.enterprise_id = (\$\d+) and/g,
    to: '$1::text is not null and',
    as: 'an account_admin',
    isTested: ({ name }) => name === 'Mutation.revokeApiKey',
    finds: /^Mutation\.revokeApiKey as an account_admin changes rows that are not its tenant’s, in "api_key"/,
  },
  {
    what: 'the enterprise of a user that is locked, for an act (deleteUser)',
    from: 'where id = $1 and enterprise_id = $2 and deleted_at is null for no key update',
    to: 'where id = $1 and $2::text is not null and deleted_at is null for no key update',
    as: 'an account_admin',
    isTested: ({ name }) => name === 'Mutation.deleteUser',
    finds: /^Mutation\.deleteUser as an account_admin (?:changes rows that are not its tenant’s|tells )/,
  },
];

let world: World | null = null;
afterEach(() => world?.test.close());

it.each(faults)('detects a missing check: $what', { timeout: 240_000 }, async ({ from, to, as, isTested, finds }) => {
  world = await startWorld();
  const { test } = world;
  const taken = takeOut(test.app.services.store, from, to);
  const matrix = new Matrix(world);
  const principal = livePrincipals(world).find(({ name }) => name === as);
  const rest = (await readDocuments(test)).flatMap(restOperations);
  const operations = [...queryOperations(new Set()), ...mutationOperations(new Set()), ...rest].filter(isTested);
  expect(operations).toHaveLength(1);
  if (!principal) throw new Error(`There is no principal "${as}".`);
  for (const operation of operations) await matrix.run(principal, operation);
  expect(taken.times, `No statement has ${from}: say here how the check is written now.`).toBeGreaterThan(0);
  expect(matrix.problems.filter((problem) => finds.test(problem))).not.toEqual([]);
});

// Removes the check from every statement, of reads and of transactions.
function takeOut(
  store: World['test']['app']['services']['store'],
  from: string | RegExp,
  to: string,
): { times: number } {
  const taken = { times: 0 };
  const without = (sql: string) => {
    const rest = sql.replaceAll(from, to);
    if (rest !== sql) taken.times += 1;
    return rest;
  };
  const { query, transact } = store;
  store.query = (sql: string, values?: readonly unknown[]) => query.call(store, without(sql), values) as never;
  store.transact = (fn) =>
    transact.call(store, (tx) =>
      fn({ ...tx, query: (sql: string, values?: readonly unknown[]) => tx.query(without(sql), values) as never }),
    ) as never;
  return taken;
}
