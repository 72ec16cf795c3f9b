import { useMemo } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type { programFragment_program$key } from '../../__generated__/programFragment_program.graphql.ts';
import type { useProgramsQuery } from '../../__generated__/useProgramsQuery.graphql.ts';
import { usePolling } from '../../relay/use-polling.ts';
import { programFragment } from './program-fragment.ts';
import { isBusy, type Program } from './program-state.tsx';

const query = graphql`
  query useProgramsQuery($organization: ID) {
    agents {
      agentId
      keySource(organizationId: $organization)
    }
    enterprise {
      agentPrograms {
        ...programFragment_program
      }
    }
  }
`;

/** The time between two readings of programs, in milliseconds: short while one changes. */
export const pollingMs = (programs: readonly Program[]): number => (programs.some(isBusy) ? 1_000 : 5_000);

/**
 * The programs of the ready agents, kept up to date; null if the viewer may not see them. The source of the key is the
 * one for the viewer's own sessions in the organization if there is one.
 */
export function usePrograms(organizationId: string | null): readonly Program[] | null {
  const variables = useMemo(() => ({ organization: organizationId }), [organizationId]);
  const found = useLazyLoadQuery<useProgramsQuery>(query, variables, { fetchPolicy: 'store-and-network' });
  const reference: programFragment_program$key | null = found.enterprise?.agentPrograms ?? null;
  const programs = useFragment(programFragment, reference);
  usePolling<useProgramsQuery>({ query, variables, everyMs: programs ? pollingMs(programs) : null });
  if (!programs) return null;
  const sources = new Map(found.agents.map(({ agentId, keySource }) => [agentId, keySource]));
  return programs.map((program) => ({ ...program, keySource: sources.get(program.agentId) ?? program.keySource }));
}
