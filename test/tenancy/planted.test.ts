import { afterEach, expect, it } from 'vitest';
import { mutationOperations, queryOperations } from './graphql-operations.ts';
import { Matrix } from './matrix.ts';
import type { Operation } from './operation.ts';
import { livePrincipals } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { startWorld, type World } from './world.ts';

/** A check taken out of the domain's SQL, and what the walk must say then. */
interface Plant {
  readonly what: string;
  readonly from: string | RegExp;
  readonly to: string;
  readonly as: string;
  readonly walks: (operation: Operation) => boolean;
  readonly finds: RegExp;
}

const plants: readonly Plant[] = [
  {
    what: 'the enterprise of a session (findSessions)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: '$2::text is not null and o.deleted_at is null and',
    as: 'an account_admin',
    walks: ({ name }) => name === 'Query.session',
    finds: /^Query\.session as an account_admin leaks .*canary-x-title/,
  },
  {
    what: 'the organization of a session (findSessions)',
    from: '($3::boolean or s.organization_id = any($4::text[]))',
    to: '($3::boolean is not null and $4::text[] is not null)',
    as: 'a member’s personal access token',
    walks: ({ name }) => name === 'Query.node(SessionMessage)',
    finds: /^Query\.node\(SessionMessage\) as a member’s personal access token leaks .*canary-b-message/,
  },
  {
    what: 'that a deleted organization’s sessions are gone (findSessions)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: 'o.enterprise_id = $2 and',
    as: 'an account_admin',
    walks: ({ name }) => name === 'Query.session',
    finds: /^Query\.session as an account_admin tells 0:id of D from what never existed/,
  },
  {
    what: 'the enterprise of a session, for an act (getSessionFor)',
    from: 'o.enterprise_id = $2 and o.deleted_at is null and',
    to: '$2::text is not null and o.deleted_at is null and',
    as: 'a service user of the enterprise',
    walks: ({ name }) => name === 'Mutation.terminateSession',
    finds:
      /^Mutation\.terminateSession as a service user of the enterprise changes rows that are not its tenant’s, in "session"/,
  },
  {
    what: 'the organization of a list (useOrganization)',
    from: 's.organization_id = $1',
    to: '$1::text is not null',
    as: 'an org_admin',
    walks: ({ name }) => name === 'GET /v3/organizations/{org_id}/sessions',
    finds: /^GET \/v3\/organizations\/\{org_id\}\/sessions as an org_admin leaks .*canary-[bx]-title/,
  },
];

let world: World | null = null;
afterEach(() => world?.test.close());

it.each(plants)('finds a missing check: $what', { timeout: 60_000 }, async ({ from, to, as, walks, finds }) => {
  world = await startWorld();
  const { test } = world;
  const taken = takeOut(test.app.services.store, from, to);
  const matrix = new Matrix(world);
  const principal = livePrincipals(world).find(({ name }) => name === as);
  const rest = (await readDocuments(test)).flatMap(restOperations);
  const operations = [...queryOperations(new Set()), ...mutationOperations(new Set()), ...rest].filter(walks);
  expect(operations).toHaveLength(1);
  if (!principal) throw new Error(`There is no principal "${as}".`);
  for (const operation of operations) await matrix.walk(principal, operation);
  expect(taken.times, `No statement has ${from}: say here how the check is written now.`).toBeGreaterThan(0);
  expect(matrix.problems.filter((problem) => finds.test(problem))).not.toEqual([]);
});

// The statements of reads, without the check.
function takeOut(
  store: World['test']['app']['services']['store'],
  from: string | RegExp,
  to: string,
): { times: number } {
  const taken = { times: 0 };
  const original = store.query;
  store.query = (sql: string, values?: readonly unknown[]) => {
    const without = sql.replaceAll(from, to);
    if (without !== sql) taken.times += 1;
    return original.call(store, without, values) as never;
  };
  return taken;
}
