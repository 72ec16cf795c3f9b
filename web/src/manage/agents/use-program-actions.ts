import { useCallback, useState } from 'react';
import { graphql } from 'react-relay';
import type { useProgramActionsCheckMutation } from '../../__generated__/useProgramActionsCheckMutation.graphql.ts';
import type { useProgramActionsInstallMutation } from '../../__generated__/useProgramActionsInstallMutation.graphql.ts';
import type { useProgramActionsRemoveMutation } from '../../__generated__/useProgramActionsRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';

/**
 * Starts the installation, the removal or a check of an agent's program. Each returns when the service has begun; the
 * program's state tells the rest. `isStarting`: a request for the agent is on its way.
 */
export function useProgramActions() {
  const [runInstall] = useMutation<useProgramActionsInstallMutation>(graphql`
    mutation useProgramActionsInstallMutation($input: InstallAgentInput!) {
      installAgent(input: $input) {
        enterprise {
          agentPrograms {
            ...programFragment_program
          }
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [runRemove] = useMutation<useProgramActionsRemoveMutation>(graphql`
    mutation useProgramActionsRemoveMutation($input: RemoveAgentInput!) {
      removeAgent(input: $input) {
        enterprise {
          agentPrograms {
            ...programFragment_program
          }
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [runCheck] = useMutation<useProgramActionsCheckMutation>(graphql`
    mutation useProgramActionsCheckMutation($input: CheckAgentInput!) {
      checkAgent(input: $input) {
        enterprise {
          agentPrograms {
            ...programFragment_program
          }
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [starting, setStarting] = useState<ReadonlySet<string>>(new Set());
  const during = useCallback(async <T>(agentId: string, work: Promise<T>): Promise<T> => {
    setStarting((before) => new Set(before).add(agentId));
    try {
      return await work;
    } finally {
      setStarting((before) => new Set([...before].filter((each) => each !== agentId)));
    }
  }, []);
  return {
    isStarting: (agentId: string) => starting.has(agentId),
    install: (agentId: string) => during(agentId, runInstall({ input: { agentId } })),
    remove: (agentId: string) => during(agentId, runRemove({ input: { agentId } })),
    check: (agentId: string) => during(agentId, runCheck({ input: { agentId } })),
  };
}
