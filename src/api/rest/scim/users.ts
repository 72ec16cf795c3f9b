import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { deleteUser } from '../../../domain/identity/people/change-users.ts';
import type { UserRecord } from '../../../domain/identity/people/find-people.ts';
import { getUser } from '../../../domain/identity/people/list-users.ts';
import { listProvisionedUsers } from '../../../domain/identity/provisioning/list-provisioned-users.ts';
import { provisionUser, updateProvisionedUser } from '../../../domain/identity/provisioning/provision-users.ts';
import { Reply } from '../../../http/reply.ts';
import type { RequestView } from '../../../http/request-view.ts';
import type { VersionApi } from '../version-api.ts';
import { scimAnswer } from './dialect.ts';
import {
  type ListParameters,
  listQuery,
  type Projection,
  page,
  presentList,
  project,
  projectionQuery,
  readRequest,
  readSearch,
  searchBody,
} from './list-query.ts';
import { patchBody, readOperations } from './patch.ts';
import { userAttributes, userSorting } from './user-filter.ts';
import { presentUser, readPatch, readUser, userLocation } from './user-resource.ts';
import { readPrecondition } from './versions.ts';

const path = '/scim/v2/Users';
const ofOne = `${path}/{id}` as const;
const body = z.unknown();
const projection = z.object(projectionQuery);

/** The parts of a response beside the user. */
interface Answer {
  readonly query?: Projection;
  readonly status?: number;
}

/** Returns the resources of a list of users. */
export async function listUsers(context: Context, parameters: ListParameters, foreign?: ReadonlySet<string>) {
  const attributes = foreign === undefined ? userAttributes : { ...userAttributes, foreign };
  const request = readRequest(parameters, { attributes, sorting: userSorting });
  const { items, ...users } = await listProvisionedUsers(context, request, page);
  return { ...users, items: items.map((user) => project(presentUser(user, context.baseUrl), parameters)) };
}

/** `/scim/v2/Users`: the users of the enterprise. */
export function serveUsers(api: VersionApi): void {
  const present = ({ baseUrl }: Context, user: UserRecord) => presentUser(user, baseUrl);
  const answer = (context: Context, request: RequestView, user: UserRecord, { query = {}, status = 200 }: Answer) => {
    const resource = present(context, user);
    return scimAnswer(request, project(resource, query), status, resource.meta.version);
  };
  const list = async (context: Context, request: RequestView, parameters: ListParameters) => {
    return scimAnswer(request, presentList(await listUsers(context, parameters)));
  };
  const precondition = (context: Context, request: RequestView) =>
    readPrecondition(request, (user: UserRecord) => present(context, user));

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
    async ({ context, request, query }) => list(context, request, query),
  );

  api.serve(
    {
      method: 'post',
      paths: [`${path}/.search`],
      name: 'searchScimUsers',
      summary: 'List users, with the parameters in the body',
      body: searchBody,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, body: search }) => list(context, request, readSearch(search)),
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
      const location = userLocation(user, context.baseUrl);
      return answer(context, request, user, { status: 201 }).with({ location });
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
      answer(context, request, await getUser(context, param('id')), { query }),
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
      const change = { ...values, ...(isActive !== undefined && { isActive }) };
      const user = await updateProvisionedUser(context, param('id'), change, precondition(context, request));
      return answer(context, request, user, {});
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
      const change = readPatch(readOperations(patch));
      const user = await updateProvisionedUser(context, param('id'), change, precondition(context, request));
      return answer(context, request, user, {});
    },
  );

  api.serve(
    { method: 'delete', paths: [ofOne], name: 'deleteScimUser', summary: 'Delete a user', refusals: [] },
    async ({ context, request, param }) => {
      await deleteUser(context, param('id'), precondition(context, request));
      return new Reply(204);
    },
  );
}
