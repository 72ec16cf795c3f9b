import { useState } from 'react';
import { directoryList as texts } from '../texts/files.ts';
import { Button } from '../ui/button.tsx';
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

/** Returns true for an entry that lists of files hide, such as `.git`. */
const isHidden = ({ name }: FileEntry): boolean => name.startsWith('.');

/** The entries of a directory, without hidden ones until the user shows them. More of them are loaded at its end. */
export function DirectoryList({ directory, chosen, isLoading, onOpen, onMore }: DirectoryListProps) {
  const { path, entries, next, totalCount } = directory;
  const [showsHidden, setShowsHidden] = useState(false);
  const hiddenCount = entries.filter(isHidden).length;
  const shown = showsHidden ? entries : entries.filter((entry) => !isHidden(entry) || entry.path === chosen);
  return (
    <>
      <ul className="directory" aria-label={texts.entries}>
        {path !== '' && (
          <li>
            <button type="button" className="directory-entry" onClick={() => onOpen(parentOf(path))}>
              <Icon name="folder" size={14} />
              <span>..</span>
              <span className="for-readers">{texts.parentDirectory}</span>
            </button>
          </li>
        )}
        {shown.map((entry) => (
          <li key={entry.path}>
            <Entry entry={entry} isChosen={entry.path === chosen} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {hiddenCount > 0 && (
        <p className="files-hint">
          <Button size="small" tone="quiet" aria-pressed={showsHidden} onClick={() => setShowsHidden(!showsHidden)}>
            {texts.showHidden({ count: hiddenCount })}
          </Button>
        </p>
      )}
      {entries.length === 0 && <p className="hint files-hint">{texts.thisDirectoryIsEmpty}</p>}
      <More hasMore={next !== null} isLoading={isLoading} onMore={onMore} />
      {next !== null && (
        <p className="hint files-hint">
          {totalCount > 10_000
            ? texts.entriesOfMany({ shown: entries.length })
            : texts.entriesShown({ shown: entries.length, total: totalCount })}
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
      <span className="for-readers">
        {type === 'DIRECTORY' ? texts.directory : type === 'LINK' ? texts.link : texts.file}
      </span>
      {target != null && (
        <span className="directory-target">
          → <bdi>{visible(target)}</bdi>
        </span>
      )}
      {isProgram && <span className="tag">{texts.executable}</span>}
      <small>
        {sizeBytes != null && <span>{writeSize(sizeBytes)}</span>}
        <Time at={modifiedAt} />
      </small>
    </button>
  );
}
