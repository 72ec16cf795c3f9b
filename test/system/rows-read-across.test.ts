import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { rowsRead } from '../support/rows-read.ts';
import { makeOrganization } from '../support/sessions.ts';

const organizations = 20;
const each = 500;
const page = 10;
let test: TestApp;
let member: { userId: string; token: string };
let administrator: { userId: string; token: string };

// In each organization a tenth of the sessions wait, and the member started one in 25; both users are in all organizations.
beforeAll(async () => {
  test = await startApp();
  const ids: string[] = [];
  for (let n = 0; n < organizations; n++) ids.push((await makeOrganization(test, `Across ${n}`)).organizationId);
  const [first, ...others] = ids;
  member = await makeUser(test, { organizationId: first });
  administrator = await makeUser(test, { organizationId: first, roleId: 'org_admin' });
  for (const organizationId of others) {
    for (const [{ userId }, roleId] of [
      [member, 'org_member'],
      [administrator, 'org_admin'],
    ] as const) {
      await runMutation(test, 'assignRole', 'user { userId }', {
        principal: { userId },
        scope: { organizationId },
        roleId,
      });
    }
  }
  const { store } = test.app.services;
  for (const [n, organizationId] of ids.entries()) {
    await store.execute(
      `insert into session (id, organization_id, title, is_title_derived, status, status_detail, origin, tags, prompt, user_id, created_at, updated_at)
       select md5($1 || n), $1, 'one', false, case when n % 10 = 0 then 'running' else 'exit' end,
              case when n % 10 = 0 then 'waiting_for_user' else 'finished' end, 'api', '{}', 'x',
              case when n % 25 = 0 then $2 else 'user' || n % 50 end,
              now() - (n * 20 + $3::int) * interval '1 second', now() - n * interval '1 second'
         from generate_series(1, ${each}) n returning id`,
      [organizationId.replace('org-', ''), member.userId.replace('user-', ''), n],
    );
  }
  for (const table of ['session', 'session_change', 'organization']) await store.execute(`analyze ${table}`);
});
afterAll(() => test.close());

const read = async (token: string, field: string, args = '') => {
  const query = `${field}(first: ${page}${args}) { nodes { sessionId } }`;
  const isOfViewer = field !== 'sessions';
  const { answer, read } = await rowsRead(test, () =>
    graphql(test, token, isOfViewer ? `{ viewer { ${query} } }` : `{ ${query} }`),
  );
  expect(answer.errors).toBeUndefined();
  expect((isOfViewer ? answer.data.viewer : answer.data)[field].nodes).toHaveLength(page);
  return { session: read.session ?? 0, change: read.session_change ?? 0 };
};
const byChange = ', orderBy: {field: UPDATED_AT, direction: DESC}';
const onePage = page + 1;
// The first session of each organization, those of the page, and the next one of each organization that is on the page.
const merged = organizations + 3 * onePage;

it.each([
  ['started by a member', () => member.token, '', onePage],
  ['started by a member, by their last change', () => member.token, byChange, organizations * (each / 50)],
  ['that an administrator of all organizations may manage', () => administrator.token, '', merged],
  ['of the whole enterprise', () => test.adminToken, '', onePage],
  ['of the whole enterprise, by their last change', () => test.adminToken, byChange, onePage],
])('reads about one page of rows for a page of waiting sessions, %s', async (_what, token, args, maxRows) => {
  const { session, change } = await read(token(), 'waitingForMe', args);
  expect(session).toBeLessThanOrEqual(maxRows);
  expect(change).toBeLessThanOrEqual(maxRows);
});

it.each([
  ['of some organizations', () => administrator.token, '', merged],
  ['of some organizations, by their last change', () => administrator.token, byChange, merged],
  ['of the whole enterprise', () => test.adminToken, '', onePage],
  ['of the whole enterprise, by their last change', () => test.adminToken, byChange, merged],
  ['of one status', () => test.adminToken, ', filter: {status: [RUNNING]}', merged],
  ['of one creator', () => test.adminToken, `, filter: {createdByIds: ["USER"]}`, onePage],
])(
  'reads about one page of rows for a page of the sessions of many organizations: %s',
  async (_what, token, args, maxRows) => {
    const { session, change } = await read(token(), 'sessions', args.replace('USER', member.userId));
    expect(session).toBeLessThanOrEqual(maxRows);
    expect(change).toBeLessThanOrEqual(maxRows);
  },
);

it('reads one page of rows for a page of the viewer’s own sessions', async () => {
  expect((await read(member.token, 'sessions')).session).toBeLessThanOrEqual(merged);
  const { read: rows } = await rowsRead(test, () =>
    graphql(test, member.token, `{ viewer { sessions(first: ${page}) { nodes { sessionId } } } }`),
  );
  expect(rows.session).toBeLessThanOrEqual(onePage);
});
