import { Link, useSearch } from 'wouter';
import { savedViews as texts } from '../../texts/sessions.ts';
import { Icon } from '../../ui/icons.tsx';
import { visible } from '../../ui/visible.ts';
import { useSavedViews } from './use-saved-views.ts';

interface SavedViewsProps {
  readonly location: string;
  readonly onFollow: () => void;
}

/** The saved views in the navigation; nothing without views. */
export function SavedViews({ location, onFollow }: SavedViewsProps) {
  const views = useSavedViews();
  const search = useSearch();
  if (views.length === 0) return null;
  const here = search ? `${location}?${search}` : location;
  return (
    <div className="group">
      <h2>{texts.views}</h2>
      <ul>
        {views.map(({ name, address }) => (
          <li key={name}>
            <Link href={address} aria-current={here === address ? 'page' : undefined} onClick={onFollow}>
              <Icon name="filter" /> <span className="view-name">{visible(name)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
