import { Suspense } from 'react';
import { Link } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { useRemembered } from '../app/use-remembered.ts';
import { useAttention } from '../inbox/attention.ts';
import { listAddress } from '../sessions/list-position.ts';
import { SavedViews } from '../sessions/views/saved-views.tsx';
import { common } from '../texts/common.ts';
import { sideNavigation as texts } from '../texts/layout.ts';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Icon } from '../ui/icons.tsx';
import {
  inboxPath,
  isAt,
  type NavigationGroup,
  settingsNavigation,
  visibleGroups,
  workNavigation,
} from './navigation.ts';

interface SideNavigationProps {
  readonly location: string;
  /** Called when a link was chosen, also the one of the current page. */
  onFollow(): void;
}

/** The navigation beside the page: of everyday work, or of the settings on their pages. */
export function SideNavigation({ location, onFollow }: SideNavigationProps) {
  const signed = useSigned();
  const settings = visibleGroups(settingsNavigation, signed);
  const paths = settings.flatMap(({ items }) => items.map(({ path }) => path));
  if (paths.some((path) => isAt(path, location))) {
    return (
      <nav aria-label={common.settings}>
        <Link href="/sessions" className="leave" onClick={onFollow}>
          <Icon name="back" /> {texts.backToSessions}
        </Link>
        <h2 className="heading">{common.settings}</h2>
        <Groups groups={settings} {...{ location, onFollow }} />
      </nav>
    );
  }
  const [first] = paths;
  const [work, ...others] = visibleGroups(workNavigation, signed);
  return (
    <nav aria-label={texts.pages}>
      {work && <Groups groups={[work]} {...{ location, onFollow }} />}
      {others.map((group) => (
        <Foldable key={group.label} group={group} {...{ location, onFollow }} />
      ))}
      {first !== undefined && (
        <ul className="group last">
          <li>
            <Link href={first} onClick={onFollow}>
              <Icon name="gear" /> {common.settings}
            </Link>
          </li>
        </ul>
      )}
      {/* At the end: as many as there are, and read last, they move no other link. */}
      <ErrorBoundary>
        <Suspense fallback={null}>
          <SavedViews location={location} onFollow={onFollow} />
        </Suspense>
      </ErrorBoundary>
    </nav>
  );
}

/** A group that the user can close, on all pages alike. */
function Foldable({ group: { label, items }, ...rest }: SideNavigationProps & { readonly group: NavigationGroup }) {
  const [folded, remember] = useRemembered('navigation-closed');
  const isOpen = folded !== 'yes';
  return (
    <details
      className="group"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && remember(currentTarget.open ? 'no' : 'yes')}
    >
      <summary>
        <h2>{label}</h2>
      </summary>
      <Items {...{ items, ...rest }} />
    </details>
  );
}

// From a session, the link returns to the list as it was.
const addressOf = (path: string, location: string) =>
  path === '/sessions' && location.startsWith('/sessions/') ? listAddress() : path;

function Groups({ groups, ...rest }: SideNavigationProps & { readonly groups: readonly NavigationGroup[] }) {
  return groups.map(({ label, items }) => (
    <div className="group" key={label}>
      <h2>{label}</h2>
      <Items items={items} {...rest} />
    </div>
  ));
}

function Items({ items, location, onFollow }: SideNavigationProps & Pick<NavigationGroup, 'items'>) {
  const attention = useAttention();
  return (
    <ul>
      {items.map(({ path, label, icon }) => (
        <li key={path}>
          <Link
            href={addressOf(path, location)}
            aria-current={isAt(path, location) ? 'page' : undefined}
            onClick={onFollow}
          >
            <Icon name={icon} /> {label}
            {path === inboxPath && attention > 0 && <span className="count needs">{attention}</span>}
          </Link>
        </li>
      ))}
    </ul>
  );
}
