import { type CSSProperties, lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { loadWithRetry } from '../app/load-with-retry.ts';
import { useAttention } from '../inbox/attention.ts';
import { InboxEnvironment } from '../inbox/inbox-environment.tsx';
import { useInboxOf } from '../inbox/inbox-scope.ts';
import { useInboxWidth, WidthHandle } from '../inbox/width-handle.tsx';
import { useOrganizationChoices } from '../pickers/use-organization-choices.ts';
import { useIsConnectionLost } from '../relay/connectivity.ts';
import { useForgetList } from '../sessions/list-position.ts';
import { common } from '../texts/common.ts';
import { inbox as inboxTexts } from '../texts/inbox.ts';
import { shell as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { keepFocus } from '../ui/focus.ts';
import { Icon, Mark } from '../ui/icons.tsx';
import { Picker } from '../ui/picker.tsx';
import { Loading } from '../ui/states.tsx';
import { setTheme, useTheme } from '../ui/theme.ts';
import { useMedia } from '../ui/use-media.ts';
import { visible } from '../ui/visible.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { commandKey, Keys } from './keys.tsx';
import { MaintenanceBanner } from './maintenance-banner.tsx';
import { inboxPath } from './navigation.ts';
import { Palette, usePaletteKey } from './palette.tsx';
import { Quiet } from './quiet.tsx';
import { SideNavigation } from './side-navigation.tsx';
import { SignOutDialog, useSignOut } from './sign-out.tsx';
import { useDrawer } from './use-drawer.ts';
import { usePreloading } from './use-preloading.ts';

const InboxSource = lazy(async () => ({
  default: (await loadWithRetry(() => import('../inbox/inbox-source.tsx'))).InboxSource,
}));

const InboxList = lazy(async () => ({
  default: (await loadWithRetry(() => import('../inbox/inbox-list.tsx'))).InboxList,
}));

/** Windows from this width on have room for the inbox beside a session. */
const wide = '(min-width: 1000px)';

/** Windows up to this width have the navigation in a drawer (`layout.css`). */
const narrow = '(max-width: 800px)';

/** Pages beside which the inbox is: home and the sessions. */
const withInbox = /^\/(?:sessions\/[^/]+\/?)?$/;

/** The frame of every page: the current page, the current user, and the navigation. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  const { may } = useSigned();
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  usePaletteKey(useCallback(() => setSearching((before) => !before), []));
  const search = useCallback(() => setSearching(true), []);
  usePreloading();
  useForgetList();
  const isLost = useIsConnectionLost();
  const inbox = useInboxOf();
  const isWide = useMedia(wide);
  const isModal = useMedia(narrow) && isOpen;
  const { drawer, opener } = useDrawer(
    isModal,
    useCallback(() => setOpen(false), []),
  );
  const attention = useAttention();
  const besides = isWide && withInbox.test(location) ? inbox : null;
  const [width, setWidth] = useInboxWidth();
  const page = useRef<HTMLElement>(null);
  useEffect(() => (page.current ? keepFocus(page.current) : undefined), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a telephone it closes when one has gone somewhere.
  useEffect(() => setOpen(false), [location]);
  return (
    <div
      className="shell"
      data-menu={isOpen ? 'open' : undefined}
      data-connection={isLost ? 'lost' : undefined}
      style={inbox && isWide ? ({ '--side-width': `${width}px` } as CSSProperties) : undefined}
    >
      <a className="skip" href="#main" inert={isModal}>
        {texts.skipToContent}
      </a>
      <header className="bar" ref={opener} inert={isModal}>
        <Button
          tone="quiet"
          icon="menu"
          aria-label={texts.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
        <Link href="/" className="brand">
          <Mark size={24} /> {texts.product}
        </Link>
        <span className="bar-acts">
          {may('VIEW_ORG_SESSIONS') && (
            <Link
              href={inboxPath}
              className="button quiet bare"
              aria-label={texts.openInbox}
              title={texts.openInbox}
              aria-describedby={attention > 0 ? 'attention-note' : undefined}
              data-attention={attention > 0 || undefined}
            >
              <Icon name="inbox" />
            </Link>
          )}
          {attention > 0 && (
            <span className="for-readers" id="attention-note">
              {texts.needYou(attention)}
            </span>
          )}
          <Button tone="quiet" icon="search" aria-label={texts.find} onClick={search} />
        </span>
      </header>
      <aside
        className="side"
        ref={drawer}
        aria-label={isModal ? texts.menu : texts.asideLabel}
        {...(isModal ? { 'role': 'dialog', 'aria-modal': true } : {})}
      >
        <Link href="/" className="brand">
          <Mark size={26} /> {texts.product}
        </Link>
        <OrganizationChoice />
        <button type="button" className="go-to" onClick={search}>
          <Icon name="search" size={14} /> <span>{texts.goTo}</span> <kbd>{commandKey} K</kbd>
        </button>
        <SideNavigation location={location} onFollow={() => setOpen(false)} />
        {besides && (
          <ErrorBoundary>
            <Suspense
              fallback={
                <div className="inbox">
                  <Loading label={inboxTexts.loading} />
                </div>
              }
            >
              <InboxEnvironment>
                <InboxList inbox={besides} />
              </InboxEnvironment>
            </Suspense>
          </ErrorBoundary>
        )}
        <Foot />
        {besides && <WidthHandle width={width} onChange={setWidth} />}
      </aside>
      {inbox && (
        <Quiet>
          <Suspense fallback={null}>
            <InboxEnvironment>
              <InboxSource inbox={inbox} />
            </InboxEnvironment>
          </Suspense>
        </Quiet>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape and the button do the same. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same. */}
      <div className="veil" onClick={() => setOpen(false)} />
      <main id="main" tabIndex={-1} ref={page} inert={isModal}>
        <ConnectionBanner />
        <MaintenanceBanner />
        {children}
      </main>
      <Keys onSearch={search} />
      <SignOutDialog />
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
      <span title={name}>{name}</span>
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
      <Button tone="quiet" size="small" icon="signOut" aria-label={common.signOut} onClick={leave} />
    </div>
  );
}
