import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { permissionNoticeQuery } from '../../__generated__/permissionNoticeQuery.graphql.ts';
import { permissionNotice as texts } from '../../texts/organizations.ts';
import { RichText } from '../../ui/rich-text.tsx';

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
            }
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise?.gitConnections?.nodes.length) return null;
  const isSecond = enterprise.organizations?.nodes.length === 1;
  return (
    <p className="hint">
      <RichText
        text={isSecond ? texts.secondOrganization : texts.furtherOrganization}
        slots={{ link: (text) => <Link href="/manage/git">{text}</Link> }}
      />
    </p>
  );
}
