import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { deleteUser } from '../../../domain/identity/people/change-users.ts';
import type { UserRecord } from '../../../domain/identity/people/find-people.ts';
import { getUser } from '../../../domain/identity/people/list-users.ts';
import { listProvisionedUsers } from '../../../domain/identity/provisioning/list-provisioned-users.ts';
import { provisionUser, updateProvisionedUser } from '../../../domain/identity/provisioning/provision-users.ts';
import { Reply } from '../../../http/reply.ts';
import type { VersionApi } from '../version-api.ts';
import { scimAnswer } from './dialect.ts';
import { listQuery, page, presentList, project, projectionQuery, readPage } from './list-query.ts';
import { patchBody, readOperations } from './patch.ts';
import { presentUser, readPatch, readUser, readUserConditions, userLocation } from './user-resource.ts';

const path = '/scim/v2/Users';
const ofOne = `${path}/{id}` as const;
const body = z.unknown();
const projection = z.object(projectionQuery);

/** `/scim/v2/Users`: the users of the enterprise. */
export function serveUsers(api: VersionApi): void {
  const present = ({ baseUrl }: Context, user: UserRecord) => presentUser(user, baseUrl);

  api.serve(
    {
      method: 'get',
      paths: [path],
      name: 'listScimUsers',
      summary: 'List users',
      query: listQuery,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, query }) => {
      const conditions = readUserConditions(query.filter);
      const users = await listProvisionedUsers(context, conditions, readPage(query), page);
      const resources = users.items.map((user) => project(present(context, user), query));
      return scimAnswer(request, presentList(users, resources));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [path],
      name: 'createScimUser',
      summary: 'Create a user',
      body,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, body: resource }) => {
      const { isActive = true, ...values } = readUser(resource);
      const user = await provisionUser(context, { ...values, isActive });
      return scimAnswer(request, present(context, user), 201).with({ location: userLocation(user, context.baseUrl) });
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [ofOne],
      name: 'getScimUser',
      summary: 'Get a user',
      query: projection,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, query, param }) =>
      scimAnswer(request, project(present(context, await getUser(context, param('id'))), query)),
  );

  api.serve(
    {
      method: 'put',
      paths: [ofOne],
      name: 'replaceScimUser',
      summary: 'Replace a user',
      body,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, body: resource, param }) => {
      const { isActive, ...values } = readUser(resource);
      const user = await updateProvisionedUser(context, param('id'), {
        ...values,
        ...(isActive !== undefined && { isActive }),
      });
      return scimAnswer(request, present(context, user));
    },
  );

  api.serve(
    {
      method: 'patch',
      paths: [ofOne],
      name: 'patchScimUser',
      summary: 'Change a user',
      body: patchBody,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, body: patch, param }) => {
      const user = await updateProvisionedUser(context, param('id'), readPatch(readOperations(patch)));
      return scimAnswer(request, present(context, user));
    },
  );

  api.serve(
    { method: 'delete', paths: [ofOne], name: 'deleteScimUser', summary: 'Delete a user', refusals: [] },
    async ({ context, param }) => {
      await deleteUser(context, param('id'));
      return new Reply(204);
    },
  );
}
