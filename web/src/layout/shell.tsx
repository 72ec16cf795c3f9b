import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { useOrganizationChoices } from '../pickers/use-organization-choices.ts';
import { useIsConnectionLost } from '../relay/connectivity.ts';
import { useForgetList } from '../sessions/list-position.ts';
import { common } from '../texts/common.ts';
import { shell as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { keepFocus } from '../ui/focus.ts';
import { Icon, Mark } from '../ui/icons.tsx';
import { Picker } from '../ui/picker.tsx';
import { setTheme, useTheme } from '../ui/theme.ts';
import { visible } from '../ui/visible.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { commandKey, Keys } from './keys.tsx';
import { MaintenanceBanner } from './maintenance-banner.tsx';
import { Palette, usePaletteKey } from './palette.tsx';
import { SideNavigation } from './side-navigation.tsx';
import { useSignOut } from './use-general-actions.ts';
import { usePreloading } from './use-preloading.ts';

/** The frame of every page: the current page, the current user, and the navigation. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  usePaletteKey(useCallback(() => setSearching((before) => !before), []));
  const search = useCallback(() => setSearching(true), []);
  usePreloading();
  useForgetList();
  const isLost = useIsConnectionLost();
  const page = useRef<HTMLElement>(null);
  useEffect(() => (page.current ? keepFocus(page.current) : undefined), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a telephone it closes when one has gone somewhere.
  useEffect(() => setOpen(false), [location]);
  return (
    <div className="shell" data-menu={isOpen ? 'open' : undefined} data-connection={isLost ? 'lost' : undefined}>
      <a className="skip" href="#main">
        {texts.skipToContent}
      </a>
      <header className="bar">
        <Button
          tone="quiet"
          icon="menu"
          aria-label={texts.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
        <Link href="/sessions" className="brand">
          <Mark size={24} /> {texts.product}
        </Link>
      </header>
      <aside className="side" aria-label={texts.asideLabel}>
        <Link href="/sessions" className="brand">
          <Mark size={26} /> {texts.product}
        </Link>
        <OrganizationChoice />
        <button type="button" className="go-to" onClick={search}>
          <Icon name="search" size={14} /> <span>{texts.goTo}</span> <kbd>{commandKey} K</kbd>
        </button>
        <SideNavigation location={location} onFollow={() => setOpen(false)} />
        <Foot />
      </aside>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape and the button do the same. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same. */}
      <div className="veil" onClick={() => setOpen(false)} />
      <main id="main" tabIndex={-1} ref={page}>
        <ConnectionBanner />
        <MaintenanceBanner />
        {children}
      </main>
      <Keys onSearch={search} />
      {isSearching && <Palette onClose={() => setSearching(false)} />}
    </div>
  );
}

function OrganizationChoice() {
  const { organization, hasSeveral, choose } = useSigned();
  const source = useOrganizationChoices();
  if (!hasSeveral || !organization) {
    return <p className="organization">{organization ? visible(organization.name) : common.noOrganization}</p>;
  }
  return (
    <Picker
      label={common.organization}
      isLabelHidden
      source={source}
      value={organization.organizationId}
      valueLabel={organization.name}
      onChange={choose}
    />
  );
}

const themes = [
  { theme: 'system', icon: 'system', label: texts.system },
  { theme: 'light', icon: 'sun', label: texts.light },
  { theme: 'dark', icon: 'moon', label: texts.dark },
] as const;

function Foot() {
  const { name } = useSigned();
  const theme = useTheme();
  const leave = useSignOut();
  return (
    <div className="foot">
      <fieldset className="themes">
        <legend className="for-readers">{texts.theme}</legend>
        {themes.map(({ theme: each, icon, label }) => (
          <Button
            key={each}
            tone="quiet"
            size="small"
            icon={icon}
            aria-label={label}
            aria-pressed={theme === each}
            onClick={() => setTheme(each)}
          />
        ))}
      </fieldset>
      <div className="who">
        <span title={name}>{name}</span>
        <Button tone="quiet" size="small" icon="signOut" aria-label={common.signOut} onClick={leave} />
      </div>
    </div>
  );
}
