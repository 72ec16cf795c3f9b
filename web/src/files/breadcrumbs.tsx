import { breadcrumbs as texts } from '../texts/files.ts';
import { visible } from '../ui/visible.ts';
import { ancestorsOf } from './file-path.ts';

interface BreadcrumbsProps {
  readonly path: string;
  readonly onOpen: (path: string) => void;
}

/** The directories above a path, each of which opens. */
export function Breadcrumbs({ path, onOpen }: BreadcrumbsProps) {
  const all = ancestorsOf(path);
  return (
    <nav aria-label={texts.path} className="breadcrumbs">
      <ol>
        {all.map(({ name, path: each }, index) => (
          <li key={each}>
            {index === all.length - 1 ? (
              <b aria-current="page">
                <bdi>{visible(name)}</bdi>
              </b>
            ) : (
              <button type="button" onClick={() => onOpen(each)}>
                <bdi>{visible(name)}</bdi>
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
