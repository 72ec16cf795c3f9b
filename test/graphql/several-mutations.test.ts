import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

it('returns the payload of one mutation if the next is refused', async () => {
  const { serviceUserId } = await makeOrganization(test, 'Other');
  const document = `mutation {
    createApiKey(input: {kind: {serviceUser: {serviceUserId: "${serviceUserId}"}}, name: "kept"}) { token }
    suspendSession(input: {sessionId: "devin-00000000000070008000000000000000"}) { userErrors { code } }
    createOrganization(input: {name: ""}) { userErrors { path } }
  }`;
  const { status, data, errors } = await graphql(test, test.adminToken, document);
  expect(status).toBe(200);
  expect(errors).toHaveLength(1);
  expect(errors).toMatchObject([{ path: ['suspendSession'], extensions: { code: 'NOT_FOUND' } }]);
  expect(data).toEqual({
    createApiKey: { token: expect.stringMatching(/^cog_/) },
    suspendSession: null,
    createOrganization: { userErrors: [{ path: ['input', 'name'] }] },
  });
  const { token } = data.createApiKey;
  expect((await graphql(test, token, '{ viewer { principalType } }')).data.viewer.principalType).toBe('SERVICE_USER');
});
