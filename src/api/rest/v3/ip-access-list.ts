import { z } from '@hono/zod-openapi';
import {
  addIpRanges,
  clearIpAccessList,
  getIpAccessList,
  replaceIpRanges,
} from '../../../domain/identity/organizations/ip-access-list.ts';
import { booleanParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';

const shape = { ip_ranges: z.array(z.string()) };
const addRequest = z.object(shape).openapi('IpAccessListAddRequest');
const replaceRequest = z.object(shape).openapi('IpAccessListReplaceRequest');
const listResponse = z.object(shape).openapi('IpAccessListResponse');

const changeQuery = z.object({
  force: booleanParam('force', {
    description: 'Change the list even if the caller’s own address would be locked out.',
    default: false,
  }),
});

const present = (ranges: readonly string[]) => ({ ip_ranges: [...ranges] });

const paths = ['/v3/enterprise/ip-access-list'] as const;

/** `/v3/enterprise/ip-access-list`: the addresses from which the enterprise's keys may be used. */
export function serveIpAccessList(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths,
      name: 'getIpAccessList',
      summary: 'Read the IP access list; an empty one allows every address',
      answer: listResponse,
      refusals: [403],
    },
    async ({ context }) => present(await getIpAccessList(context)),
  );

  api.serve(
    {
      method: 'post',
      paths,
      name: 'addToIpAccessList',
      summary: 'Add addresses and CIDR ranges to the IP access list',
      query: changeQuery,
      body: addRequest,
      answer: listResponse,
      refusals: [400, 403, 409, 413, 422],
    },
    async ({ context, query, body }) =>
      present(await addIpRanges(context, { ipRanges: body.ip_ranges, force: query.force })),
  );

  api.serve(
    {
      method: 'put',
      paths,
      name: 'replaceIpAccessList',
      summary: 'Replace the IP access list',
      query: changeQuery,
      body: replaceRequest,
      answer: listResponse,
      refusals: [400, 403, 409, 413, 422],
    },
    async ({ context, query, body }) =>
      present(await replaceIpRanges(context, { ipRanges: body.ip_ranges, force: query.force })),
  );

  api.serve(
    {
      method: 'delete',
      paths,
      name: 'clearIpAccessList',
      summary: 'Empty the IP access list, which allows every address',
      answer: listResponse,
      refusals: [403],
    },
    async ({ context }) => present(await clearIpAccessList(context)),
  );
}
