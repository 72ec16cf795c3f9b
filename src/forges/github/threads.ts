import { z } from 'zod';
import type { ApiClient } from '../http/api-client.ts';
import { ForgeError } from '../interface/errors.ts';
import { plainText } from '../support/text.ts';

/** The pull request of a thread. */
export interface ThreadRequest {
  readonly client: ApiClient;
  /** The path of the GraphQL API below the URL of the REST API. */
  readonly graphqlPath: string;
  /** `owner/name`. */
  readonly path: string;
  readonly number: number;
  /** The id of the first comment of the thread, as the REST API has it. */
  readonly threadId: string;
}

/** The REST API has no threads, and the GraphQL API does not find one by its comments: they are looked through. */
const maxPages = 5;

const find = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;
const resolve = 'mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }';

const thread = z.object({
  id: z.string().max(500),
  isResolved: z.boolean(),
  comments: z.object({
    nodes: z
      .object({ fullDatabaseId: z.union([z.string(), z.number()]).nullish() })
      .array()
      .max(1),
  }),
});
const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().max(500).nullish() });
const found = z.object({
  repository: z
    .object({
      pullRequest: z.object({ reviewThreads: z.object({ nodes: thread.array().max(100), pageInfo }) }).nullable(),
    })
    .nullable(),
});
const resolved = z.object({ resolveReviewThread: z.object({ thread: z.object({ isResolved: z.boolean() }) }) });

const action = 'resolve the thread';

/** Resolves a thread of review comments. Does nothing if it is resolved. Rejects with ForgeError. */
export async function resolveGithubThread(request: ThreadRequest): Promise<void> {
  const { client, path, number, threadId } = request;
  const [owner, name] = path.split('/');
  let after: string | null = null;
  for (let page = 0; page < maxPages; page++) {
    const data: z.output<typeof found> = await ask(request, found, find, { owner, name, number, after });
    const threads = data.repository?.pullRequest?.reviewThreads;
    const match = threads?.nodes.find(({ comments }) => String(comments.nodes[0]?.fullDatabaseId) === threadId);
    if (match?.isResolved) return;
    if (match) {
      await ask(request, resolved, resolve, { id: match.id });
      return;
    }
    after = threads?.pageInfo.endCursor ?? null;
    if (!threads?.pageInfo.hasNextPage || after === null) break;
  }
  throw new ForgeError('NOT_FOUND', `${client.host} has no thread with this id.`);
}

async function ask<T>(
  { client, graphqlPath }: ThreadRequest,
  schema: z.ZodType<T>,
  query: string,
  variables: object,
): Promise<T> {
  const errors = z.object({ type: z.string().nullish(), message: z.string() }).array().max(100).nullish();
  const { data: answer } = await client.call(z.object({ data: schema.nullish(), errors }), {
    method: 'POST',
    path: graphqlPath,
    body: { query, variables },
    action,
    permission: 'pull_requests: write',
  });
  const [error] = answer.errors ?? [];
  if (error || answer.data == null) {
    const code =
      error?.type === 'FORBIDDEN' ? 'MISSING_PERMISSION' : error?.type === 'NOT_FOUND' ? 'NOT_FOUND' : 'REJECTED';
    throw new ForgeError(code, `${client.host} did not ${action}: ${plainText(error?.message ?? 'no reason', 500)}`);
  }
  return answer.data;
}
