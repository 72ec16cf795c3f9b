import { graphql } from 'relay-runtime';
import type { viewerQuery$data } from '../__generated__/viewerQuery.graphql.ts';

/** Asks who is signed in in this browser now, which another tab may have changed, and what they may do in an organization. */
export const viewerDocument = graphql`
  query viewerQuery($organization: ID!, $hasOrganization: Boolean!) {
    viewer {
      principalType
      enterprisePermissions
      principal {
        id
        displayName
      }
      user {
        userId
      }
      serviceUser {
        serviceUserId
      }
      organization {
        id
      }
    }
    organization(id: $organization) @include(if: $hasOrganization) {
      viewerPermissions
    }
  }
`;

/** For whom a page shows what it shows. A new one whenever it begins anew. */
export interface ViewerContext {
  /** The browser's sign-in, which goes along with all that the page asks; null until the service has said it. */
  signIn: string | null;
  /** By {@link viewerKeyOf}; null until it is known. */
  viewerKey: string | null;
  /** The organization whose pages are shown, which `who` is about too; null for none. */
  organizationId: string | null;
}

type Viewer = viewerQuery$data['viewer'];

/** A word for who is signed in: to be compared. */
export function principalKeyOf({
  principalType,
  user,
  serviceUser,
  organization,
}: Omit<Viewer, 'enterprisePermissions'>) {
  return JSON.stringify([principalType, user?.userId, serviceUser?.serviceUserId, organization?.id]);
}

/** A word for who is signed in, and for what they may do on the enterprise and in the organization shown: to be compared. */
export function viewerKeyOf(viewer: Viewer, organization: viewerQuery$data['organization']): string {
  return JSON.stringify([
    principalKeyOf(viewer),
    viewer.enterprisePermissions,
    organization?.viewerPermissions ?? null,
  ]);
}

let viewerContext: ViewerContext = { signIn: null, viewerKey: null, organizationId: null };

/** The page begins anew. */
export function setViewerContext(next: ViewerContext): void {
  viewerContext = next;
}

/** For whom the page shows what it shows now. */
export const currentViewerContext = (): ViewerContext => viewerContext;
