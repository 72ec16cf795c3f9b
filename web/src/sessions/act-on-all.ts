import type { Filter } from './filters.ts';

/** On which sessions to act: on these, or on all that match. */
export type Target =
  | { readonly sessionIds: readonly string[] }
  | { readonly filter: Filter; readonly organizationId: string };

/** What a bulk mutation takes. */
export type BatchInput =
  | { readonly selection: { readonly sessionIds: readonly string[] } }
  | {
      readonly selection: { readonly filter: Filter };
      readonly organizationId: string;
      readonly first: number;
      readonly after: string | null;
    };

/** What a bulk mutation answers. */
export interface Batch {
  readonly hasMore: boolean | null | undefined;
  readonly endCursor: string | null | undefined;
  readonly results:
    | readonly { readonly sessionId: string; readonly userErrors: readonly { readonly message: string }[] }[]
    | null
    | undefined;
}

/** A session to which nothing was done, and why. */
export interface Refusal {
  readonly sessionId: string;
  readonly message: string;
}

/** How far it has come. */
export interface Progress {
  readonly count: number;
  /** Those to which it was done, of the first thousand: what can be taken back at once. */
  readonly sessionIds: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly isOver: boolean;
}

/** How many sessions an act takes at once. */
const atOnce = 100;
/** Of so many it is kept which they were. */
const maxDoneIds = 1_000;

/** Acts on all, a hundred at a time, until `onBatch` says to stop or a whole batch is refused. */
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

/** What the first batch of a target is; null: there is nothing to act on. */
export const firstInput = (target: Target): BatchInput | null => firstOf(target)?.input ?? null;

function firstOf(target: Target): Step | null {
  return 'filter' in target ? ofFilter(target, null) : ofIds(target.sessionIds, 0);
}

function ofFilter(target: Extract<Target, { filter: Filter }>, cursor: string | null): Step {
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
