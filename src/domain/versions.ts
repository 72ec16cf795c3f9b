import { refuse } from '../common/errors.ts';

/**
 * A condition of a change: the version that the caller has read. Omitted or null: the change applies to any version.
 */
export interface VersionCondition {
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Throws CONFLICT at `expectedVersion` for a change that is based on another version than the stored one. Call it when
 * the object is locked and the permission has been checked.
 */
export function requireVersion(stored: { readonly version: number }, condition: VersionCondition | undefined): void {
  const expected = condition?.expectedVersion ?? null;
  if (expected === null || expected === stored.version) return;
  const message = `"expectedVersion" is ${expected}, but the current version is ${stored.version}. Read it again before you change it.`;
  throw refuse(['expectedVersion'], message, 'CONFLICT');
}
