import { graphql } from 'react-relay';
import type { useBuildEnvironmentMutation } from '../../__generated__/useBuildEnvironmentMutation.graphql.ts';
import type { useBuildEnvironmentQuery } from '../../__generated__/useBuildEnvironmentQuery.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { usePolling } from '../../relay/use-polling.ts';
import type { FormProblem } from '../kit/kit.ts';

/** Starts a set-up of a repository without a session of a user. `definition`: null for the one that is in effect. */
export function useBuildEnvironment(
  repositoryId: string,
  organizationId: string,
): readonly [(definition: string | null) => Promise<readonly FormProblem[] | null>, boolean] {
  const [build, isBusy] = useMutation<useBuildEnvironmentMutation>(
    graphql`
      mutation useBuildEnvironmentMutation($input: BuildEnvironmentInput!) {
        buildEnvironment(input: $input) {
          repository {
            ...environmentBuilds_repository
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const start = async (environmentDefinition: string | null) => {
    const definition = environmentDefinition === null ? {} : { environmentDefinition };
    const { errors } = await build({ input: { repositoryId, organizationId, ...definition } });
    return errors;
  };
  return [start, isBusy];
}

/** Reads the set-ups of a repository every two seconds while one of them waits or runs. */
export function useBuildPolling(variables: useBuildEnvironmentQuery['variables'], isUnderWay: boolean): void {
  usePolling<useBuildEnvironmentQuery>({
    query: graphql`
      query useBuildEnvironmentQuery($organizationId: ID!, $path: String!) {
        organization(id: $organizationId) {
          repository(path: $path) {
            ...environmentBuilds_repository
          }
        }
      }
    `,
    variables,
    everyMs: isUnderWay ? 2_000 : null,
  });
}
