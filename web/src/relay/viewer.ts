import { graphql } from 'relay-runtime';
import type { viewerQuery$data } from '../__generated__/viewerQuery.graphql.ts';

/**
 * Reads the user who is signed in in this browser, which another tab may have changed, and their permissions in an
 * organization.
 */
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

/** The user for whom a page shows its content. Replaced whenever the page reloads its data. */
export interface ViewerContext {
  /** The browser's sign-in, sent with all requests of the page; null until the service has returned it. */
  signIn: string | null;
  /** From {@link viewerKeyOf}; null until known. */
  viewerKey: string | null;
  /** The current organization, to which `viewerKey` also refers; null for none. */
  organizationId: string | null;
}

type Viewer = viewerQuery$data['viewer'];

/** A key of the signed-in user, for comparison. */
export function principalKeyOf({
  principalType,
  user,
  serviceUser,
  organization,
}: Omit<Viewer, 'enterprisePermissions'>) {
  return JSON.stringify([principalType, user?.userId, serviceUser?.serviceUserId, organization?.id]);
}

/**
 * A key of the signed-in user and their permissions on the enterprise and in the current organization, for comparison.
 */
export function viewerKeyOf(viewer: Viewer, organization: viewerQuery$data['organization']): string {
  return JSON.stringify([
    principalKeyOf(viewer),
    viewer.enterprisePermissions,
    organization?.viewerPermissions ?? null,
  ]);
}

let viewerContext: ViewerContext = { signIn: null, viewerKey: null, organizationId: null };

/** Sets the viewer when the page reloads its data. */
export function setViewerContext(next: ViewerContext): void {
  viewerContext = next;
}

/** The viewer of the page. */
export const currentViewerContext = (): ViewerContext => viewerContext;
