import { createContext, type ReactNode, Suspense, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { gateQuery, gateQuery$data } from '../__generated__/gateQuery.graphql.ts';
import { Splash } from '../ui/states.tsx';

type Organization = gateQuery$data['organizations']['nodes'][number];
type Viewer = gateQuery$data['viewer'];

/** Who is signed in, and in which organization's pages. */
export interface Signed {
  readonly viewer: Viewer;
  readonly name: string;
  readonly organizations: readonly Organization[];
  /** The one whose things lists show. Null for who may use none. */
  readonly organization: Organization | null;
  choose(organizationId: string): void;
  /** Whether something may be offered. The service decides: this only hides what it would refuse. */
  may(permission: Viewer['permissions'][number]): boolean;
}

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
  /** Called when it is known who is signed in. */
  readonly onKnown: () => void;
}

/** Loads who is signed in before it shows anything; who is not never gets past it. */
export function Gate({ children, onKnown }: GateProps) {
  return (
    <Suspense fallback={<Splash />}>
      <Known onKnown={onKnown}>{children}</Known>
    </Suspense>
  );
}

function Known({ children, onKnown }: GateProps) {
  useEffect(onKnown, [onKnown]);
  const { viewer, organizations } = useLazyLoadQuery<gateQuery>(
    graphql`
      query gateQuery {
        viewer {
          principalType
          permissions
          user {
            userId
            name
            email
          }
          serviceUser {
            serviceUserId
            name
          }
          organization {
            id
          }
        }
        organizations(first: 100) {
          nodes {
            id
            organizationId
            name
          }
        }
      }
    `,
    {},
  );
  const [chosen, setChosen] = useState(() => localStorage.getItem(chosenKey));
  const choose = useCallback((organizationId: string) => {
    localStorage.setItem(chosenKey, organizationId);
    setChosen(organizationId);
  }, []);
  const signed = useMemo<Signed>(() => {
    const { nodes } = organizations;
    const { user, serviceUser } = viewer;
    return {
      viewer,
      name: user?.name ?? user?.email ?? serviceUser?.name ?? 'Service key',
      organizations: nodes,
      organization: nodes.find(({ organizationId }) => organizationId === chosen) ?? nodes[0] ?? null,
      choose,
      may: (permission) => viewer.permissions.includes(permission),
    };
  }, [viewer, organizations, chosen, choose]);
  return <SignedContext value={signed}>{children}</SignedContext>;
}
