import { type Owner, ownerOf } from '../auth/viewer.ts';
import type { Context } from './context.ts';

/**
 * The last editor of a resource as unprefixed ids, of which at most one is set (none: the service itself), and its
 * version.
 */
export interface Editor {
  /** 1 after creation; each change adds 1. */
  readonly version: number;
  readonly updatedByUserId: string | null;
  readonly updatedByServiceUserId: string | null;
  readonly updatedByServiceKeyId: string | null;
}

/** Assignments of an UPDATE that write {@link editorValues}, which are its parameters from `$first` on. */
export const setEditor = (first: number): string =>
  `updated_by_user_id = $${first}, updated_by_service_user_id = $${first + 1}, updated_by_service_key_id = $${first + 2},
  updated_at = $${first + 3}::timestamptz, version = version + 1`;

/** Parameters for {@link setEditor}. */
export const editorValues = (change: ReturnType<typeof changedBy>): unknown[] => [
  change.updatedByUserId,
  change.updatedByServiceUserId,
  change.updatedByServiceKeyId,
  change.updatedAt,
];

/** Returns the viewer as the editor of an object. `before`: the object; omitted if the viewer creates it. */
export function changedBy(
  context: Pick<Context, 'viewer' | 'now'>,
  before?: Pick<Editor, 'version'>,
): Editor & { readonly updatedAt: Date } {
  const { userId, serviceUserId, serviceKeyId } = ownerOf(context.viewer);
  return {
    version: (before?.version ?? 0) + 1,
    updatedByUserId: userId,
    updatedByServiceUserId: serviceUserId,
    updatedByServiceKeyId: serviceKeyId,
    updatedAt: context.now(),
  };
}

/** Returns the last editor of a resource in the form of its creator. */
export function editorOf(thing: Editor): Owner {
  return {
    userId: thing.updatedByUserId,
    serviceUserId: thing.updatedByServiceUserId,
    serviceKeyId: thing.updatedByServiceKeyId,
  };
}
