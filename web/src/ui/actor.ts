import { visible } from './visible.ts';

/** The name of a principal as it is shown; null for none. */
export function nameOf(principal: { readonly displayName: string } | null | undefined): string | null {
  return principal ? visible(principal.displayName) : null;
}
