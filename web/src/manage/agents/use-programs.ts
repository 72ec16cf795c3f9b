import { useMemo } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type { programFragment_program$key } from '../../__generated__/programFragment_program.graphql.ts';
import type { useProgramsQuery, useProgramsQuery$data } from '../../__generated__/useProgramsQuery.graphql.ts';
import { usePolling } from '../../relay/use-polling.ts';
import { programFragment } from './program-fragment.ts';
import { isBusy, type Program } from './program-state.tsx';

const query = graphql`
  query useProgramsQuery($organization: ID) {
    agents {
      agentId
      name
      isDefault
      programVersion
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

type Agent = useProgramsQuery$data['agents'][number];

interface Programs {
  /** The programs of the ready agents. */
  readonly programs: readonly Program[];
  /** The agents that need no program of the list: the demo agent, and those of the operator. */
  readonly others: readonly Agent[];
  /** The agent of sessions whose organization specifies none; null: no agent. */
  readonly defaultId: string | null;
}

/**
 * The programs of the ready agents and the other agents, kept up to date; null if the viewer may not see them. The
 * source of the key is the one for the viewer's own sessions in the organization if there is one.
 */
export function usePrograms(organizationId: string | null): Programs | null {
  const variables = useMemo(() => ({ organization: organizationId }), [organizationId]);
  const found = useLazyLoadQuery<useProgramsQuery>(query, variables, { fetchPolicy: 'store-and-network' });
  const reference: programFragment_program$key | null = found.enterprise?.agentPrograms ?? null;
  const programs = useFragment(programFragment, reference);
  usePolling<useProgramsQuery>({ query, variables, everyMs: programs ? pollingMs(programs) : null });
  if (!programs) return null;
  const sources = new Map(found.agents.map(({ agentId, keySource }) => [agentId, keySource]));
  const installable = new Set(programs.map(({ agentId }) => agentId));
  return {
    programs: programs.map((program) => ({ ...program, keySource: sources.get(program.agentId) ?? program.keySource })),
    others: found.agents.filter(({ agentId }) => !installable.has(agentId)),
    defaultId: found.agents.find(({ isDefault }) => isDefault)?.agentId ?? null,
  };
}
