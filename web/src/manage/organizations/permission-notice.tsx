import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { permissionNoticeQuery } from '../../__generated__/permissionNoticeQuery.graphql.ts';

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
      {isSecond
        ? 'The only organization of an enterprise may use all connected repositories. With a second one, both may use only the repositories of their git permissions. '
        : 'The organization may use only the repositories of its git permissions. '}
      Add permissions for it in <Link href="/manage/git">Settings → Git → Permissions</Link>
      {isSecond && ', and for the existing organization before its next session'}.
    </p>
  );
}
