import { type Owner, ownerOf } from '../auth/viewer.ts';
import type { Context } from './context.ts';

/** Columns of an {@link Owner} of a row: who made it. */
export const authorColumns = (row: string): string =>
  `${row}.user_id as "userId", ${row}.service_user_id as "serviceUserId", ${row}.service_key_id as "serviceKeyId"`;

/** Bare ids of who changed a thing last: at most one is set; none is the service itself. */
export interface Editor {
  readonly updatedByUserId: string | null;
  readonly updatedByServiceUserId: string | null;
  readonly updatedByServiceKeyId: string | null;
}

/** Columns of an {@link Editor} of a row. */
export const editorColumns = (row: string): string =>
  `${row}.updated_by_user_id as "updatedByUserId", ${row}.updated_by_service_user_id as "updatedByServiceUserId",
  ${row}.updated_by_service_key_id as "updatedByServiceKeyId"`;

/** Assignments of an UPDATE that write {@link editorValues}, which are its parameters from `$first` on. */
export const setEditor = (first: number): string =>
  `updated_by_user_id = $${first}, updated_by_service_user_id = $${first + 1}, updated_by_service_key_id = $${first + 2},
  updated_at = $${first + 3}::timestamptz`;

/** Parameters for {@link setEditor}. */
export const editorValues = (change: ReturnType<typeof changedBy>): unknown[] => [
  change.updatedByUserId,
  change.updatedByServiceUserId,
  change.updatedByServiceKeyId,
  change.updatedAt,
];

/** The viewer as the one who changes a thing now. */
export function changedBy(context: Pick<Context, 'viewer' | 'now'>): Editor & { readonly updatedAt: Date } {
  const { userId, serviceUserId, serviceKeyId } = ownerOf(context.viewer);
  return {
    updatedByUserId: userId,
    updatedByServiceUserId: serviceUserId,
    updatedByServiceKeyId: serviceKeyId,
    updatedAt: context.now(),
  };
}

/** Who changed a thing last, in the form of who made it. */
export function editorOf(thing: Editor): Owner {
  return {
    userId: thing.updatedByUserId,
    serviceUserId: thing.updatedByServiceUserId,
    serviceKeyId: thing.updatedByServiceKeyId,
  };
}
