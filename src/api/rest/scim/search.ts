import type { VersionApi } from '../version-api.ts';
import { scimAnswer, scimError } from './dialect.ts';
import { groupAttributes } from './group-filter.ts';
import { listGroups } from './groups.ts';
import { page, presentList, readSearch, searchBody } from './list-query.ts';
import { userAttributes } from './user-filter.ts';
import { listUsers } from './users.ts';

const namesOf = ({ attributes }: { readonly attributes: ReadonlyMap<string, unknown> }) => new Set(attributes.keys());

/** `POST /scim/v2/.search`: users, and then groups, as one list. An attribute that only one of them has is none of the other. */
export function serveSearch(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: ['/scim/v2/.search'],
      name: 'searchScim',
      summary: 'Search users and groups',
      body: searchBody,
      badInput: 400,
      refusals: [],
    },
    async ({ context, request, body }) => {
      const parameters = readSearch(body);
      if (parameters.sortBy !== undefined) {
        throw scimError('invalidValue', '"sortBy" orders resources of one type. Search in /Users or /Groups.');
      }
      const { startIndex = 1, count = page.default } = parameters;
      const first = Math.min(Math.max(count, 0), page.max);
      const users = await listUsers(context, { ...parameters, count: first }, namesOf(groupAttributes));
      const groups = await listGroups(
        context,
        { ...parameters, startIndex: startIndex - users.total, count: first - users.items.length },
        namesOf(userAttributes),
      );
      const items = [...users.items, ...groups.items];
      const total = users.total + groups.total;
      return scimAnswer(request, presentList({ items, total, offset: users.offset }));
    },
  );
}
