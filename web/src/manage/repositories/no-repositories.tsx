import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { noRepositoriesQuery } from '../../__generated__/noRepositoriesQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Empty } from '../../ui/states.tsx';

/** The message of an empty list of repositories, with the reason as far as the viewer may know it. */
export function NoRepositories() {
  const { organization, may } = useSigned();
  const mayPermit = may('MANAGE_ORGANIZATIONS');
  const isFor = mayPermit || may('MANAGE_ENTERPRISE_SETTINGS');
  const found = useLazyLoadQuery<noRepositoriesQuery>(
    graphql`
      query noRepositoriesQuery($id: ID!, $isFor: Boolean!, $mayPermit: Boolean!, $seesAll: Boolean!) {
        enterprise {
          gitConnections(first: 1) @include(if: $isFor) {
            nodes {
              id
            }
          }
          organizations(first: 2) @include(if: $seesAll) {
            nodes {
              id
            }
          }
        }
        organization(id: $id) {
          gitPermissions(first: 1) @include(if: $mayPermit) {
            nodes {
              id
            }
          }
        }
      }
    `,
    { id: organization?.organizationId ?? '', isFor, mayPermit, seesAll: may('READ_ACCOUNT_META') },
    { fetchPolicy: 'store-and-network' },
  );
  const { gitConnections, organizations } = found.enterprise ?? {};
  if (gitConnections?.nodes.length === 0) {
    return (
      <Empty title="No repositories yet" text="Sessions can work on the repositories of a forge that is connected.">
        <Link href="/manage/git">Connect a forge</Link>
      </Empty>
    );
  }
  const isWithoutPermission = found.organization?.gitPermissions?.nodes.length === 0;
  if (isWithoutPermission && (organizations?.nodes.length ?? 0) > 1) {
    return (
      <Empty
        title="No git permission"
        text="The organization has no git permission, so its sessions may use no repository. In an enterprise with several organizations, each needs one."
      >
        <Link href="/manage/git">Add a permission (Settings → Git → Permissions)</Link>
      </Empty>
    );
  }
  return (
    <Empty
      title="No repositories yet"
      text={`A repository appears here after the first session that works on it.${
        isFor ? '' : ' If sessions find no repository, ask an administrator for a git permission of the organization.'
      }`}
    />
  );
}
