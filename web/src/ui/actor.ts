import { visible } from './visible.ts';

interface Actor {
  readonly __typename: string;
  readonly fullName?: string | null | undefined;
  readonly email?: string;
  readonly name?: string;
}

/**
 * How somebody is called, of a selection `__typename ... on User { fullName: name email } ... on ServiceUser { name }`;
 * null for nobody.
 */
export function nameOf(actor: Actor | null | undefined): string | null {
  const name = actor?.fullName ?? actor?.email ?? actor?.name;
  return name == null ? null : visible(name);
}
