import type { ForgeAnswer } from './forge-server.ts';
import type { CallGithub } from './github-git.ts';

/** The part of GitHub's GraphQL API about review threads, which emulate 0.12.2 lacks. */
export interface GithubThreads {
  /** The ids of the first comments of resolved threads. */
  readonly resolved: ReadonlySet<string>;
  answer(body: string): Promise<ForgeAnswer>;
}

interface GraphqlRequest {
  readonly query: string;
  readonly variables: {
    readonly id?: string;
    readonly owner?: string;
    readonly name?: string;
    readonly number?: number;
  };
}

/** Serves the threads of the comments that the REST API has. Each page has one thread. */
export function createGithubThreads(call: CallGithub, token: string): GithubThreads {
  const resolved = new Set<string>();
  return {
    resolved,
    async answer(body) {
      const { query, variables } = JSON.parse(body) as GraphqlRequest & { variables: { after?: string | null } };
      if (query.startsWith('mutation')) {
        const id = /^PRRT_(\d+)$/.exec(variables.id ?? '')?.[1];
        if (id === undefined) return refusal('NOT_FOUND', 'Could not resolve to a node with this global id.');
        resolved.add(id);
        return { body: { data: { resolveReviewThread: { thread: { isResolved: true } } } } };
      }
      const { owner, name, number, after } = variables;
      const path = `/repos/${owner}/${name}/pulls/${number}/comments`;
      const comments = (await call(token, 'GET', path)) as unknown as { id: number; in_reply_to_id?: number | null }[];
      const first = comments.filter((each) => each.in_reply_to_id == null);
      const position = Number(after ?? 0);
      const nodes = first.slice(position, position + 1).map(({ id }) => ({
        id: `PRRT_${id}`,
        isResolved: resolved.has(String(id)),
        comments: { nodes: [{ fullDatabaseId: String(id) }] },
      }));
      const pageInfo = { hasNextPage: position + 1 < first.length, endCursor: String(position + 1) };
      return { body: { data: { repository: { pullRequest: { reviewThreads: { nodes, pageInfo } } } } } };
    },
  };
}

const refusal = (type: string, message: string): ForgeAnswer => ({ body: { data: null, errors: [{ type, message }] } });
