import { type Permission, permissionFor } from '../../../auth/permissions.ts';

/** A domain operation, by its name in the table of permissions. */
type Act = keyof typeof permissionFor;

/** A condition on the viewer: it has at least one of these permissions. */
export interface Requirement {
  readonly anyOf: readonly Permission[];
  /** True if objects of the viewer's own need none of them. */
  readonly exceptOwn: boolean;
}

/** The extensions of a field that declare the required permissions. All requirements must be met. */
export type Needs = {
  readonly requires: readonly Requirement[];
};

/** A condition of {@link needs}: an operation, several operations of which one suffices, or {@link exceptOwn}. */
export type Condition = Act | readonly Act[] | Requirement;

/** A condition of {@link needs} that applies to objects of others only. */
export const exceptOwn = (...acts: readonly Act[]): Requirement => ({ ...toRequirement(acts), exceptOwn: true });

/** Required for reading the content of a session; some operations return a session to a viewer that may not read it. */
export const viewsSession: readonly Act[] = ['viewSession', 'viewEnterpriseSessions'];
/** Required for changing a session. */
export const managesSession: Requirement = exceptOwn('changeSession', 'manageEnterpriseSessions');

/**
 * The extensions of a field that requires the permissions of these domain operations. The schema prints them as
 * `@requiresPermission`, and the field's description ends with them.
 */
export const needs = (...conditions: readonly Condition[]): Needs => ({ requires: conditions.map(toRequirement) });

/**
 * The options of a field that may require a permission which the viewer of its object lacks. The field is nullable, so
 * that an error leaves the rest of the object intact. `more`: further extensions.
 */
export const boundary = <const T extends object>(condition: Condition, more?: T) =>
  ({ nullable: true, extensions: { ...more, ...needs(condition), isNullOnlyOnError: true } }) as const;

/** The requirements in a field's extensions. */
export const requirementsOf = ({ requires }: Partial<Needs>): readonly Requirement[] => requires ?? [];

function toRequirement(condition: Condition): Requirement {
  if (typeof condition === 'object' && 'anyOf' in condition) return condition;
  const acts = typeof condition === 'string' ? [condition] : condition;
  return { anyOf: [...new Set(acts.map((act) => permissionFor[act]))], exceptOwn: false };
}
