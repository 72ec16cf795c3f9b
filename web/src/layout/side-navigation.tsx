import { Link } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { Icon } from '../ui/icons.tsx';
import { isAt, type NavigationGroup, settingsNavigation, visibleGroups, workNavigation } from './navigation.ts';

/** The navigation beside the page: of everyday work, or of the settings on their pages. */
export function SideNavigation({ location }: { readonly location: string }) {
  const signed = useSigned();
  const settings = visibleGroups(settingsNavigation, signed);
  const paths = settings.flatMap(({ items }) => items.map(({ path }) => path));
  if (paths.some((path) => isAt(path, location))) {
    return (
      <nav aria-label="Settings">
        <Link href="/sessions" className="leave">
          <Icon name="back" /> Back to sessions
        </Link>
        <h2 className="heading">Settings</h2>
        <Groups groups={settings} location={location} />
      </nav>
    );
  }
  const [first] = paths;
  return (
    <nav aria-label="Pages">
      <Groups groups={visibleGroups(workNavigation, signed)} location={location} />
      {first !== undefined && (
        <ul className="group last">
          <li>
            <Link href={first}>
              <Icon name="gear" /> Settings
            </Link>
          </li>
        </ul>
      )}
    </nav>
  );
}

function Groups({ groups, location }: { readonly groups: readonly NavigationGroup[]; readonly location: string }) {
  return groups.map(({ label, items }) => (
    <div className="group" key={label}>
      <h2>{label}</h2>
      <ul>
        {items.map(({ path, label: text, icon }) => (
          <li key={path}>
            <Link href={path} aria-current={isAt(path, location) ? 'page' : undefined}>
              <Icon name={icon} /> {text}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  ));
}
