import { Icon, type IconName } from '../ui/icons.tsx';
import { More } from '../ui/more.tsx';
import { writeSize } from '../ui/size.ts';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { parentOf } from './file-path.ts';
import type { Directory, FileEntry } from './use-directory.ts';

const icons = { DIRECTORY: 'folder', FILE: 'file', LINK: 'link' } as const satisfies Record<string, IconName>;

interface DirectoryListProps {
  readonly directory: Directory;
  /** The path of the file that is shown. */
  readonly chosen: string;
  readonly isLoading: boolean;
  readonly onOpen: (path: string) => void;
  readonly onMore: () => void;
}

/** The entries of a directory. More of them are loaded at its end. */
export function DirectoryList({ directory, chosen, isLoading, onOpen, onMore }: DirectoryListProps) {
  const { path, entries, next, totalCount } = directory;
  return (
    <>
      <ul className="directory" aria-label="Entries">
        {path !== '' && (
          <li>
            <button type="button" className="directory-entry" onClick={() => onOpen(parentOf(path))}>
              <Icon name="folder" size={14} />
              <span>..</span>
              <span className="for-readers">parent directory</span>
            </button>
          </li>
        )}
        {entries.map((entry) => (
          <li key={entry.path}>
            <Entry entry={entry} isChosen={entry.path === chosen} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="hint files-hint">This directory is empty.</p>}
      <More hasMore={next !== null} isLoading={isLoading} onMore={onMore} />
      {next !== null && (
        <p className="hint files-hint">
          {entries.length.toLocaleString('en')} of{' '}
          {totalCount > 10_000 ? 'more than 10,000' : totalCount.toLocaleString('en')} entries
        </p>
      )}
    </>
  );
}

interface EntryProps {
  readonly entry: FileEntry;
  readonly isChosen: boolean;
  readonly onOpen: (path: string) => void;
}

function Entry({ entry, isChosen, onOpen }: EntryProps) {
  const { name, path, type, sizeBytes, modifiedAt, target } = entry;
  const isProgram = type === 'FILE' && (Number.parseInt(entry.mode, 8) & 0o111) !== 0;
  return (
    <button
      type="button"
      className={`directory-entry ${type.toLowerCase()}`}
      aria-current={isChosen || undefined}
      title={visible(name)}
      onClick={() => onOpen(path)}
    >
      <Icon name={icons[type as keyof typeof icons] ?? 'file'} size={14} />
      <bdi>{visible(name)}</bdi>
      <span className="for-readers">{type === 'DIRECTORY' ? 'directory' : type === 'LINK' ? 'link' : 'file'}</span>
      {target != null && (
        <span className="directory-target">
          → <bdi>{visible(target)}</bdi>
        </span>
      )}
      {isProgram && <span className="tag">executable</span>}
      <small>
        {sizeBytes != null && <span>{writeSize(sizeBytes)}</span>}
        <Time at={modifiedAt} />
      </small>
    </button>
  );
}
