import type { ReactNode } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { permissionNoticeQuery } from '../../__generated__/permissionNoticeQuery.graphql.ts';
import { permissionNotice as texts } from '../../texts/organizations.ts';
import { RichText } from '../../ui/rich-text.tsx';
import { visible } from '../../ui/visible.ts';

/** Tells that a further organization and the existing ones need git permissions, if a forge is connected. */
export function PermissionNotice() {
  const { enterprise } = useLazyLoadQuery<permissionNoticeQuery>(
    graphql`
      query permissionNoticeQuery {
        enterprise {
          gitConnections(first: 1) {
            nodes {
              id
            }
          }
          organizations(first: 2) {
            nodes {
              id
              name
            }
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise?.gitConnections?.nodes.length) return null;
  const [only, ...others] = enterprise.organizations?.nodes ?? [];
  const link = (text: ReactNode) => <Link href="/manage/git">{text}</Link>;
  return (
    <p className="hint">
      {only && others.length === 0 ? (
        <RichText text={texts.secondOrganization} slots={{ link, name: visible(only.name) }} />
      ) : (
        <RichText text={texts.furtherOrganization} slots={{ link }} />
      )}
    </p>
  );
}
