import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { noRepositoriesQuery } from '../../__generated__/noRepositoriesQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { noRepositories as texts } from '../../texts/repositories.ts';
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
      <Empty title={texts.noRepositoriesYet} text={texts.noForgeText}>
        <Link href="/manage/git">{texts.addGitProvider}</Link>
      </Empty>
    );
  }
  const isWithoutPermission = found.organization?.gitPermissions?.nodes.length === 0;
  if (isWithoutPermission && (organizations?.nodes.length ?? 0) > 1) {
    return (
      <Empty title={texts.noPermissionTitle} text={texts.noPermissionText}>
        <Link href="/manage/git">{texts.addPermission}</Link>
      </Empty>
    );
  }
  return <Empty title={texts.noRepositoriesYet} text={isFor ? texts.emptyText : texts.emptyTextForMember} />;
}
