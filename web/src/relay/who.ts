import { graphql } from 'relay-runtime';
import type { whoQuery$data } from '../__generated__/whoQuery.graphql.ts';

/** Asks who is signed in in this browser now, which another tab may have changed. */
export const whoDocument = graphql`
  query whoQuery {
    viewer {
      principalType
      permissions
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
  }
`;

/** For whom a page shows what it shows. A new one whenever it begins anew. */
export interface Shown {
  /** The browser's sign-in, which goes along with all that the page asks; null until the service has said it. */
  signIn: string | null;
  /** By {@link wordOf}; null until it is known. */
  who: string | null;
}

/** A word for who is signed in, and for what they may do: to be compared. */
export function wordOf(viewer: whoQuery$data['viewer']): string {
  const { principalType, permissions, user, serviceUser, organization } = viewer;
  return JSON.stringify([principalType, permissions, user?.userId, serviceUser?.serviceUserId, organization?.id]);
}

let shown: Shown = { signIn: null, who: null };

/** The page begins anew. */
export function beginShown(next: Shown): void {
  shown = next;
}

/** For whom the page shows what it shows now. */
export const nowShown = (): Shown => shown;
