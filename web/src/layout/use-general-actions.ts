import { useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { signOut } from '../relay/signed-out.ts';
import { useCopy } from '../ui/copy.ts';
import { setTheme, type Theme, useTheme } from '../ui/theme.ts';
import { useToasts } from '../ui/toasts.tsx';
import { newSessionAddress } from './keys.tsx';
import type { PaletteAction } from './page-actions.ts';

const themeActions: readonly { readonly theme: Theme; readonly label: string; readonly icon: PaletteAction['icon'] }[] =
  [
    { theme: 'light', label: 'Use the light theme', icon: 'sun' },
    { theme: 'dark', label: 'Use the dark theme', icon: 'moon' },
    { theme: 'system', label: 'Use the theme of the system', icon: 'system' },
  ];

/** Actions of the palette on every page. */
export function useGeneralActions(): readonly PaletteAction[] {
  const [, go] = useLocation();
  const { organization, may } = useSigned();
  const copy = useCopy();
  const leave = useSignOut();
  const theme = useTheme();
  const mayStart = organization !== null && may('USE_SESSIONS');
  return [
    ...(mayStart ? [{ label: 'New session', icon: 'plus', run: () => go(newSessionAddress) } as const] : []),
    { label: 'Copy link to this page', icon: 'link', run: () => void copy(window.location.href) },
    ...themeActions
      .filter((each) => each.theme !== theme)
      .map(({ label, icon, theme: other }) => ({ label, icon, run: () => setTheme(other) })),
    { label: 'Sign out', icon: 'signOut', run: leave },
  ];
}

/** Returns a function that signs out, and says so if the service could not be reached. */
export function useSignOut(): () => void {
  const toasts = useToasts();
  return () => {
    void signOut().then((isOut) => {
      if (!isOut) toasts.fail('The service could not be reached. You are still signed in.');
    });
  };
}
