import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { MemberChange } from '../../../domain/identity/provisioning/group-members.ts';
import {
  findGroupMembers,
  getProvisionedGroup,
  listProvisionedGroups,
  maxGroupMembers,
  type ProvisionedGroup,
} from '../../../domain/identity/provisioning/list-provisioned-groups.ts';
import {
  type CurrentGroup,
  deleteProvisionedGroup,
  provisionGroup,
  updateProvisionedGroup,
} from '../../../domain/identity/provisioning/provision-groups.ts';
import { Reply } from '../../../http/reply.ts';
import type { RequestView } from '../../../http/request-view.ts';
import type { VersionApi } from '../version-api.ts';
import { scimAnswer, scimError } from './dialect.ts';
import { groupAttributes, groupSorting } from './group-filter.ts';
import { groupLocation, presentGroup, readGroup, readGroupPatch } from './group-resource.ts';
import {
  isReturned,
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
import { readPrecondition } from './versions.ts';

const path = '/scim/v2/Groups';
const ofOne = `${path}/{id}` as const;
const body = z.unknown();
const projection = z.object(projectionQuery);
const refused = { badInput: 400, refusals: [] } as const;

/** `/scim/v2/Groups`: the registered groups of the enterprise, with the members that directories have added. */
export function serveGroups(api: VersionApi): void {
  serveReads(api);
  serveWrites(api);
}

async function readMembers(context: Context, groups: readonly ProvisionedGroup[]) {
  const members = await findGroupMembers(
    context,
    groups.map(({ id }) => id),
  );
  if (members !== null) return members;
  const message = `The groups have more than ${maxGroupMembers} members together. Send excludedAttributes=members, or a smaller count.`;
  throw scimError('tooMany', message);
}

/** Returns the resources of a list of groups. */
export async function listGroups(context: Context, parameters: ListParameters, foreign?: ReadonlySet<string>) {
  const attributes = foreign === undefined ? groupAttributes : { ...groupAttributes, foreign };
  const request = readRequest(parameters, { attributes, sorting: groupSorting });
  const { items, ...groups } = await listProvisionedGroups(context, request, page);
  const members = isReturned('members', parameters) ? await readMembers(context, items) : null;
  const present = (group: ProvisionedGroup) =>
    presentGroup(group, members === null ? null : (members.get(group.id) ?? []), context.baseUrl);
  return { ...groups, items: items.map((group) => project(present(group), parameters)) };
}

async function answer(
  context: Context,
  request: RequestView,
  group: ProvisionedGroup,
  { query = {}, status = 200 }: { readonly query?: Projection; readonly status?: number },
): Promise<Reply> {
  const members = (await readMembers(context, [group])).get(group.id) ?? [];
  const resource = presentGroup(group, members, context.baseUrl);
  return scimAnswer(request, project(resource, query), status, resource.meta.version);
}

async function list(context: Context, request: RequestView, parameters: ListParameters): Promise<Reply> {
  const groups = await listGroups(context, parameters);
  return scimAnswer(request, presentList(groups));
}

const precondition = ({ baseUrl }: Context, request: RequestView) =>
  readPrecondition(request, ({ group, members }: CurrentGroup) => presentGroup(group, members, baseUrl));

function serveReads(api: VersionApi): void {
  api.serve(
    { method: 'get', paths: [path], name: 'listScimGroups', summary: 'List groups', query: listQuery, ...refused },
    async ({ context, request, query }) => list(context, request, query),
  );

  api.serve(
    {
      method: 'post',
      paths: [`${path}/.search`],
      name: 'searchScimGroups',
      summary: 'List groups, with the parameters in the body',
      body: searchBody,
      ...refused,
    },
    async ({ context, request, body: search }) => list(context, request, readSearch(search)),
  );

  api.serve(
    { method: 'get', paths: [ofOne], name: 'getScimGroup', summary: 'Get a group', query: projection, ...refused },
    async ({ context, request, query, param }) =>
      answer(context, request, await getProvisionedGroup(context, param('id')), { query }),
  );
}

function serveWrites(api: VersionApi): void {
  api.serve(
    { method: 'post', paths: [path], name: 'createScimGroup', summary: 'Create a group', body, ...refused },
    async ({ context, request, body: resource }) => {
      const members = new MemberChange();
      const group = await provisionGroup(context, readGroup(resource, members), members);
      const location = groupLocation(group, context.baseUrl);
      return (await answer(context, request, group, { status: 201 })).with({ location });
    },
  );

  api.serve(
    { method: 'put', paths: [ofOne], name: 'replaceScimGroup', summary: 'Replace a group', body, ...refused },
    async ({ context, request, body: resource, param }) => {
      const members = new MemberChange();
      const values = readGroup(resource, members);
      const check = precondition(context, request);
      return answer(context, request, await updateProvisionedGroup(context, param('id'), values, members, check), {});
    },
  );

  // Without a body in the response, so that a group with many members is not read after each change.
  api.serve(
    { method: 'patch', paths: [ofOne], name: 'patchScimGroup', summary: 'Change a group', body: patchBody, ...refused },
    async ({ context, request, body: patch, param }) => {
      const members = new MemberChange();
      const values = readGroupPatch(readOperations(patch), members);
      await updateProvisionedGroup(context, param('id'), values, members, precondition(context, request));
      return new Reply(204);
    },
  );

  api.serve(
    { method: 'delete', paths: [ofOne], name: 'deleteScimGroup', summary: 'Delete a group', refusals: [] },
    async ({ context, request, param }) => {
      await deleteProvisionedGroup(context, param('id'), precondition(context, request));
      return new Reply(204);
    },
  );
}
