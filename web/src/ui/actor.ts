import { visible } from './visible.ts';

/** The display name of a principal; null for none. */
export function nameOf(principal: { readonly displayName: string } | null | undefined): string | null {
  return principal ? visible(principal.displayName) : null;
}
