import { roleList as texts } from '../../texts/users.ts';

/** The first roles of a user or group. */
interface Roles {
  readonly nodes: readonly {
    readonly organizationId: string | null | undefined;
    readonly organization: { readonly name: string } | null | undefined;
    readonly role: { readonly name: string };
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

/** Returns the organizations of roles with the names of the roles, in one line. */
export function inOrganizations({ nodes, pageInfo }: Roles): string {
  const names = nodes
    .filter(({ organizationId }) => organizationId != null)
    .map(({ organization, organizationId, role }) => `${organization?.name ?? organizationId} (${role.name})`);
  return [...names, ...(pageInfo.hasNextPage ? [texts.more] : [])].join(', ');
}
