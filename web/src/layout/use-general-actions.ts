import { useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { common } from '../texts/common.ts';
import { generalActions as texts } from '../texts/layout.ts';
import { useCopy } from '../ui/copy.ts';
import { setTheme, type Theme, useTheme } from '../ui/theme.ts';
import { newSessionAddress } from './keys.tsx';
import type { PaletteAction } from './page-actions.ts';
import { useSignOut } from './sign-out.tsx';

const themeActions: readonly { readonly theme: Theme; readonly label: string; readonly icon: PaletteAction['icon'] }[] =
  [
    { theme: 'light', label: texts.lightTheme, icon: 'sun' },
    { theme: 'dark', label: texts.darkTheme, icon: 'moon' },
    { theme: 'system', label: texts.systemTheme, icon: 'system' },
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
    ...(mayStart ? [{ label: common.newSession, icon: 'plus', run: () => go(newSessionAddress) } as const] : []),
    { label: texts.copyLink, icon: 'link', run: () => void copy(window.location.href) },
    ...themeActions
      .filter((each) => each.theme !== theme)
      .map(({ label, icon, theme: other }) => ({ label, icon, run: () => setTheme(other) })),
    { label: common.signOut, icon: 'signOut', run: leave },
  ];
}
