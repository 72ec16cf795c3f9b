import type { SessionFilter } from '../__generated__/bulkBarArchiveMutation.graphql.ts';

/** The sessions of a bulk operation: these, or all that match a filter. */
export type Target =
  | { readonly sessionIds: readonly string[] }
  | { readonly filter: SessionFilter; readonly organizationId: string };

/** The input of a bulk mutation. */
export type BatchInput =
  | { readonly selection: { readonly sessionIds: readonly string[] } }
  | {
      readonly selection: { readonly filter: SessionFilter };
      readonly organizationId: string;
      readonly first: number;
      readonly after: string | null;
    };

/** The result of a bulk mutation. */
export interface Batch {
  readonly hasMore: boolean | null | undefined;
  readonly endCursor: string | null | undefined;
  readonly results:
    | readonly { readonly sessionId: string; readonly userErrors: readonly { readonly message: string }[] }[]
    | null
    | undefined;
}

/** A session that was not changed, with the reason. */
export interface Refusal {
  readonly sessionId: string;
  readonly message: string;
}

/** The progress of a bulk operation. */
export interface Progress {
  readonly count: number;
  /** The changed sessions among the first thousand, which can be undone at once. */
  readonly sessionIds: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly isOver: boolean;
}

/** The maximum number of sessions in one mutation. */
const atOnce = 100;
/** The maximum number of changed sessions whose ids are stored. */
const maxDoneIds = 1_000;

/** Processes all sessions, a hundred at a time, until `onBatch` stops it or a whole batch is refused. */
export async function actOnAll(
  target: Target,
  mutate: (input: BatchInput) => Promise<{ readonly payload: Batch | null }>,
  onBatch: (progress: Progress) => boolean,
): Promise<Progress> {
  let count = 0;
  const doneIds: string[] = [];
  const refusals: Refusal[] = [];
  let next = firstOf(target);
  while (next !== null) {
    const { payload } = await mutate(next.input);
    if (payload === null) break;
    for (const { sessionId, userErrors } of payload.results ?? []) {
      if (userErrors.length === 0) {
        count++;
        if (doneIds.length < maxDoneIds) doneIds.push(sessionId);
      } else refusals.push({ sessionId, message: userErrors.map(({ message }) => message).join(' ') });
    }
    next = next.after(payload);
    if (onBatch({ count, sessionIds: doneIds, refusals: [...refusals], isOver: next === null })) break;
  }
  return { count, sessionIds: doneIds, refusals, isOver: true };
}

interface Step {
  readonly input: BatchInput;
  readonly after: (batch: Batch) => Step | null;
}

/** The first batch of a target; null: it is empty. */
export const firstInput = (target: Target): BatchInput | null => firstOf(target)?.input ?? null;

function firstOf(target: Target): Step | null {
  return 'filter' in target ? ofFilter(target, null) : ofIds(target.sessionIds, 0);
}

function ofFilter(target: Extract<Target, { filter: SessionFilter }>, cursor: string | null): Step {
  const { filter, organizationId } = target;
  return {
    input: { selection: { filter }, organizationId, first: atOnce, after: cursor },
    after: ({ hasMore, endCursor }) => (hasMore && endCursor ? ofFilter(target, endCursor) : null),
  };
}

function ofIds(ids: readonly string[], from: number): Step | null {
  if (from >= ids.length) return null;
  return {
    input: { selection: { sessionIds: ids.slice(from, from + atOnce) } },
    after: () => ofIds(ids, from + atOnce),
  };
}
