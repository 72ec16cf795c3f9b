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
  deleteProvisionedGroup,
  provisionGroup,
  updateProvisionedGroup,
} from '../../../domain/identity/provisioning/provision-groups.ts';
import { Reply } from '../../../http/reply.ts';
import type { VersionApi } from '../version-api.ts';
import { scimAnswer, scimError } from './dialect.ts';
import { groupLocation, presentGroup, readGroup, readGroupConditions, readGroupPatch } from './group-resource.ts';
import {
  isReturned,
  listQuery,
  type Projection,
  page,
  presentList,
  project,
  projectionQuery,
  readPage,
} from './list-query.ts';
import { patchBody, readOperations } from './patch.ts';

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

async function present(context: Context, groups: readonly ProvisionedGroup[], query: Projection): Promise<object[]> {
  const ids = groups.map(({ id }) => id);
  const isWithMembers = isReturned('members', query);
  const members = isWithMembers ? await findGroupMembers(context, ids) : new Map();
  if (members === null) {
    const message = `The groups have more than ${maxGroupMembers} members together. Send excludedAttributes=members, or a smaller count.`;
    throw scimError('tooMany', message);
  }
  return groups.map((group) =>
    project(presentGroup(group, isWithMembers ? (members.get(group.id) ?? []) : null, context.baseUrl), query),
  );
}

function serveReads(api: VersionApi): void {
  api.serve(
    { method: 'get', paths: [path], name: 'listScimGroups', summary: 'List groups', query: listQuery, ...refused },
    async ({ context, request, query }) => {
      const groups = await listProvisionedGroups(context, readGroupConditions(query.filter), readPage(query), page);
      return scimAnswer(request, presentList(groups, await present(context, groups.items, query)));
    },
  );

  api.serve(
    { method: 'get', paths: [ofOne], name: 'getScimGroup', summary: 'Get a group', query: projection, ...refused },
    async ({ context, request, query, param }) => {
      const [group] = await present(context, [await getProvisionedGroup(context, param('id'))], query);
      return scimAnswer(request, group);
    },
  );
}

function serveWrites(api: VersionApi): void {
  api.serve(
    { method: 'post', paths: [path], name: 'createScimGroup', summary: 'Create a group', body, ...refused },
    async ({ context, request, body: resource }) => {
      const members = new MemberChange();
      const group = await provisionGroup(context, readGroup(resource, members), members);
      const [created] = await present(context, [group], {});
      return scimAnswer(request, created, 201).with({ location: groupLocation(group, context.baseUrl) });
    },
  );

  api.serve(
    { method: 'put', paths: [ofOne], name: 'replaceScimGroup', summary: 'Replace a group', body, ...refused },
    async ({ context, request, body: resource, param }) => {
      const members = new MemberChange();
      const group = await updateProvisionedGroup(context, param('id'), readGroup(resource, members), members);
      const [replaced] = await present(context, [group], {});
      return scimAnswer(request, replaced);
    },
  );

  // Without a body in the response, so that a group with many members is not read after each change.
  api.serve(
    { method: 'patch', paths: [ofOne], name: 'patchScimGroup', summary: 'Change a group', body: patchBody, ...refused },
    async ({ context, body: patch, param }) => {
      const members = new MemberChange();
      const change = readGroupPatch(readOperations(patch), members);
      await updateProvisionedGroup(context, param('id'), change, members);
      return new Reply(204);
    },
  );

  api.serve(
    { method: 'delete', paths: [ofOne], name: 'deleteScimGroup', summary: 'Delete a group', refusals: [] },
    async ({ context, param }) => {
      await deleteProvisionedGroup(context, param('id'));
      return new Reply(204);
    },
  );
}
