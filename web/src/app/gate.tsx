import {
  createContext,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useTransition,
} from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { gateQuery, gateQuery$data, Permission } from '../__generated__/gateQuery.graphql.ts';
import { currentViewerContext, principalKeyOf, viewerKeyOf } from '../relay/viewer.ts';
import { gate as texts } from '../texts/app.ts';
import { nameOf } from '../ui/actor.ts';
import { forgetOthersDrafts } from '../ui/drafts.ts';
import { Splash } from '../ui/states.tsx';

type Organization = gateQuery$data['organizations']['nodes'][number];
type Viewer = gateQuery$data['viewer'];
type Maintenance = gateQuery$data['maintenance'];

/** The signed-in user, the current organization, and the service's maintenance mode. */
export interface Signed {
  readonly viewer: Viewer;
  readonly name: string;
  /** True if there are several organizations to choose from. */
  readonly hasSeveral: boolean;
  /** The organization whose lists are shown. Null for a user without organizations. */
  readonly organization: Organization | null;
  /** Null: the service works normally. */
  readonly maintenance: Maintenance;
  choose(organizationId: string): void;
  /** Reloads the organizations after one was created or deleted. */
  reload(): void;
  /**
   * Returns true if the viewer has a permission on the enterprise or in the current organization, so that a page may
   * offer what requires it. The service decides. For an object that may belong to another organization, use its
   * `viewerCanManage` instead.
   */
  may(permission: Permission): boolean;
}

/** Returns true if the viewer can have read marks, pins and saved views: a service key cannot. */
export const hasPersonalState = ({ user, serviceUser }: Viewer): boolean => user != null || serviceUser != null;

const SignedContext = createContext<Signed | null>(null);
const chosenKey = 'switchyard:organization';

/** See {@link Signed}. */
export function useSigned(): Signed {
  const signed = useContext(SignedContext);
  if (!signed) throw new Error('useSigned is for components inside of Gate.');
  return signed;
}

interface GateProps {
  readonly children: ReactNode;
  /** Called when the signed-in user is known. */
  readonly onLoaded: () => void;
}

/** Loads the signed-in user before it shows anything; nobody else gets past it. */
export function Gate({ children, onLoaded }: GateProps) {
  return (
    <Suspense fallback={<Splash />}>
      <GateContent onLoaded={onLoaded}>{children}</GateContent>
    </Suspense>
  );
}

function GateContent({ children, onLoaded }: GateProps) {
  useEffect(onLoaded, [onLoaded]);
  const [chosen, setChosen] = useState(() => localStorage.getItem(chosenKey));
  const [fetchKey, setFetchKey] = useState(0);
  // The current content stays until the other organization is known.
  const [, change] = useTransition();
  const {
    viewer,
    organizations,
    organization,
    maintenance = null,
  } = useLazyLoadQuery<gateQuery>(
    graphql`
      query gateQuery($chosen: ID!, $hasChosen: Boolean!) {
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
        organization(id: $chosen) @include(if: $hasChosen) {
          id
          organizationId
          name
          viewerPermissions
        }
        organizations(first: 2) {
          nodes {
            id
            organizationId
            name
            viewerPermissions
          }
        }
        maintenance {
          since
          reason
        }
      }
    `,
    { chosen: chosen ?? '', hasChosen: chosen !== null },
    { fetchKey, fetchPolicy: fetchKey === 0 ? 'store-or-network' : 'network-only' },
  );
  useState(() => forgetOthersDrafts(principalKeyOf(viewer)));
  const choose = useCallback((organizationId: string) => change(() => setChosen(organizationId)), []);
  const current = organization ?? organizations.nodes[0] ?? null;
  const currentId = current?.organizationId ?? null;
  const viewerKey = viewerKeyOf(viewer, current);
  useEffect(() => {
    Object.assign(currentViewerContext(), { viewerKey: viewerKey, organizationId: currentId });
  }, [viewerKey, currentId]);
  // Without this, an organization created later would be first in the list and replace the current one.
  useEffect(() => {
    if (currentId !== null) localStorage.setItem(chosenKey, currentId);
  }, [currentId]);
  const reload = useCallback(
    () =>
      change(() => {
        setChosen(currentId);
        setFetchKey((before) => before + 1);
      }),
    [currentId],
  );
  const signed = useMemo<Signed>(() => {
    return {
      viewer,
      name: nameOf(viewer.principal) ?? texts.serviceKey,
      hasSeveral: organizations.nodes.length > 1,
      organization: current,
      maintenance,
      choose,
      reload,
      may: (permission) =>
        viewer.enterprisePermissions.includes(permission) || (current?.viewerPermissions.includes(permission) ?? false),
    };
  }, [viewer, organizations, current, maintenance, choose, reload]);
  return <SignedContext value={signed}>{children}</SignedContext>;
}
