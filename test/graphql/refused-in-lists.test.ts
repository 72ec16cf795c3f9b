import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

// graphql-js leaves alone the promises of a list's items that stand before one that throws, and a promise that is rejected
// with nobody waiting for it ends a process: here, the run of these tests.
it('refuses the sessions of one organization of a list without leaving those of another alone', async () => {
  const { organizationId } = await makeOrganization(test, 'Older');
  const newer = await makeOrganization(test, 'Newer');
  const { userId, token } = await makeUser(test, { organizationId: newer.organizationId });
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
  await runMutation(test, 'assignRole', 'user { userId }', {
    principal: { userId },
    scope: { organizationId },
    roleId,
  });
  // A text that is new is run by graphql-js, one that is not by what it is compiled to.
  for (const alias of ['one', 'two', 'two', 'two']) {
    const { errors } = await graphql(
      test,
      token,
      `{ organizations { nodes { ${alias}: sessions(first: 0) { nodes { sessionId insights { size } } } } } }`,
    );
    expect(errors?.map(({ extensions }: any) => extensions.code)).toContain('FORBIDDEN');
    await new Promise((done) => setImmediate(done));
  }
});
