import { type Permission, permissionFor } from '../../../auth/permissions.ts';

/** An act of the domain, by its name in the table of permissions. */
type Act = keyof typeof permissionFor;

/** A condition on the viewer: it holds at least one of these permissions. */
export interface Requirement {
  readonly anyOf: readonly Permission[];
  /** Whether what is the viewer's own needs none of them. */
  readonly exceptOwn: boolean;
}

/** The extensions of a field that say who may use it. All requirements must hold. */
export type Needs = {
  readonly requires: readonly Requirement[];
};

/** A condition of {@link needs}: an act, several of which one is enough, or {@link exceptOwn}. */
export type Condition = Act | readonly Act[] | Requirement;

/** A condition of {@link needs} that holds for what is not the viewer's own. */
export const exceptOwn = (...acts: readonly Act[]): Requirement => ({ ...toRequirement(acts), exceptOwn: true });

/** To read what is in a session, which an act may give to a viewer that may not read it. */
export const viewsSession: readonly Act[] = ['viewSession', 'viewEnterpriseSessions'];
/** To act on a session. */
export const managesSession: Requirement = exceptOwn('changeSession', 'manageEnterpriseSessions');

/**
 * The extensions of a field that needs permissions: those which the domain asks for in these acts. The schema prints them as
 * `@requiresPermission`, and the description of the field ends with them.
 */
export const needs = (...conditions: readonly Condition[]): Needs => ({ requires: conditions.map(toRequirement) });

/**
 * The options of a field that the viewer may lack permission for though it has the object that the field is of: nullable, so
 * that the refusal leaves the rest of the object. `more`: further extensions.
 */
export const boundary = <const T extends object>(condition: Condition, more?: T) =>
  ({ nullable: true, extensions: { ...more, ...needs(condition), isNullOnlyOnError: true } }) as const;

/** The requirements of a field, by its extensions. */
export const requirementsOf = ({ requires }: Partial<Needs>): readonly Requirement[] => requires ?? [];

function toRequirement(condition: Condition): Requirement {
  if (typeof condition === 'object' && 'anyOf' in condition) return condition;
  const acts = typeof condition === 'string' ? [condition] : condition;
  return { anyOf: [...new Set(acts.map((act) => permissionFor[act]))], exceptOwn: false };
}
