import { Suspense } from 'react';
import { Link } from 'wouter';
import { useSigned } from '../app/gate.tsx';
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
  /** True beside the inbox, which takes most of the column: rarer pages are then behind a line. */
  readonly isShort: boolean;
  /** Called when a link was chosen, also the one of the current page. */
  onFollow(): void;
}

/** The navigation beside the page: of everyday work, or of the settings on their pages. */
export function SideNavigation({ location, isShort, onFollow }: SideNavigationProps) {
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
        <Groups groups={settings} {...{ location, isShort, onFollow }} />
      </nav>
    );
  }
  const [first] = paths;
  const [work, ...others] = visibleGroups(workNavigation, signed);
  return (
    <nav aria-label={texts.pages} className={isShort ? 'short' : undefined}>
      {work && <Groups groups={[work]} {...{ location, isShort, onFollow }} />}
      <ErrorBoundary>
        <Suspense fallback={null}>
          <SavedViews location={location} onFollow={onFollow} />
        </Suspense>
      </ErrorBoundary>
      {isShort ? (
        others.map(({ label, items }) => (
          <details className="group" key={label}>
            <summary>{label}</summary>
            <Items {...{ items, location, isShort, onFollow }} />
          </details>
        ))
      ) : (
        <Groups groups={others} {...{ location, isShort, onFollow }} />
      )}
      {first !== undefined && (
        <ul className="group last">
          <li>
            <Link href={first} onClick={onFollow}>
              <Icon name="gear" /> {common.settings}
            </Link>
          </li>
        </ul>
      )}
    </nav>
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

function Items({ items, location, isShort, onFollow }: SideNavigationProps & Pick<NavigationGroup, 'items'>) {
  const attention = useAttention();
  return (
    <ul>
      {items
        .filter(({ path }) => path !== inboxPath || !isShort)
        .map(({ path, label, icon }) => (
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
