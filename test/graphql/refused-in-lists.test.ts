import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

// If an item of a list throws, graphql-js abandons the promises of the items before it. A promise that then rejects
// without a handler ends the process: here, this test run.
it('refuses the sessions of one organization of a list without unhandled rejections in another', async () => {
  const { organizationId } = await makeOrganization(test, 'Older');
  const newer = await makeOrganization(test, 'Newer');
  const { userId, token } = await makeUser(test, { organizationId: newer.organizationId });
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['USE_SESSIONS']);
  await runMutation(test, 'assignRole', 'user { userId }', {
    principal: { userId },
    scope: { organizationId },
    roleId,
  });
  // graphql-js runs a new text; a known text runs compiled.
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
