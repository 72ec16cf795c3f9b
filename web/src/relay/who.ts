import { graphql } from 'relay-runtime';
import type { whoQuery$data } from '../__generated__/whoQuery.graphql.ts';

/** Asks who is signed in in this browser now, which another tab may have changed, and what they may do in an organization. */
export const whoDocument = graphql`
  query whoQuery($organization: ID!, $hasOrganization: Boolean!) {
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
export interface Shown {
  /** The browser's sign-in, which goes along with all that the page asks; null until the service has said it. */
  signIn: string | null;
  /** By {@link wordOf}; null until it is known. */
  who: string | null;
  /** The organization whose pages are shown, which `who` is about too; null for none. */
  organizationId: string | null;
}

type Viewer = whoQuery$data['viewer'];

/** A word for who is signed in: to be compared. */
export function personOf({ principalType, user, serviceUser, organization }: Omit<Viewer, 'enterprisePermissions'>) {
  return JSON.stringify([principalType, user?.userId, serviceUser?.serviceUserId, organization?.id]);
}

/** A word for who is signed in, and for what they may do on the enterprise and in the organization shown: to be compared. */
export function wordOf(viewer: Viewer, organization: whoQuery$data['organization']): string {
  return JSON.stringify([personOf(viewer), viewer.enterprisePermissions, organization?.viewerPermissions ?? null]);
}

let shown: Shown = { signIn: null, who: null, organizationId: null };

/** The page begins anew. */
export function beginShown(next: Shown): void {
  shown = next;
}

/** For whom the page shows what it shows now. */
export const nowShown = (): Shown => shown;
