import { Link, useSearch } from 'wouter';
import { savedViews as texts } from '../../texts/sessions.ts';
import { Icon } from '../../ui/icons.tsx';
import { visible } from '../../ui/visible.ts';
import { useSavedViews } from './use-saved-views.ts';

interface SavedViewsProps {
  readonly location: string;
  readonly onFollow: () => void;
}

/** The parameters of a query in a fixed order. */
function sorted(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.sort();
  return parameters.toString();
}

/** The saved views in the navigation; nothing without views. */
export function SavedViews({ location, onFollow }: SavedViewsProps) {
  const views = useSavedViews();
  const search = useSearch();
  if (views.length === 0) return null;
  const isShown = (address: string) => {
    const [path = '', wanted = ''] = address.split('?', 2);
    return path === location && sorted(wanted) === sorted(search);
  };
  return (
    <div className="group views">
      <h2>{texts.views}</h2>
      <ul>
        {views.map(({ name, address }) => (
          <li key={name}>
            <Link href={address} aria-current={isShown(address) ? 'page' : undefined} onClick={onFollow}>
              <Icon name="filter" /> <span className="view-name">{visible(name)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
