import { refuse } from './errors.ts';

/** A condition of a change: the version that the caller has read. Left out or null: the change is made whatever the version is. */
export interface VersionCondition {
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Refuses a change that is based on another version than the one that is stored. To be called when the thing is locked, and
 * after permission was checked. CONFLICT at `expectedVersion`.
 */
export function requireVersion(stored: { readonly version: number }, condition: VersionCondition | undefined): void {
  const expected = condition?.expectedVersion ?? null;
  if (expected === null || expected === stored.version) return;
  const message = `"expectedVersion" is ${expected}, but the current version is ${stored.version}. Read it again before you change it.`;
  throw refuse(['expectedVersion'], message, 'CONFLICT');
}
