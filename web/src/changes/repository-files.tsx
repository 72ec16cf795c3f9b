import { type RefObject, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useRelayEnvironment } from 'react-relay';
import { repositoryFiles as texts } from '../texts/changes.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import type { DiffView } from './diff-table.tsx';
import { FileList } from './file-list.tsx';
import { FileTree } from './file-tree.tsx';
import { FilesStore, type ListedFile } from './files-store.ts';
import type { RepositoryChanges } from './use-changes.ts';
import { ComparisonContext, useMissingFiles } from './use-file-comments.ts';

/** The time after the last key until the filter applies. */
const filterMs = 250;

interface RepositoryFilesProps {
  readonly id: string;
  readonly turn: number | null;
  readonly changes: RepositoryChanges;
  /** True if the session has no other repository. */
  readonly isOnly: boolean;
  readonly view: DiffView;
  readonly search: string;
  /** The path of the file in the URL; empty: none. */
  readonly path: string;
  readonly box: RefObject<HTMLElement | null>;
  readonly onSearch: (search: string) => void;
  readonly onPath: (path: string) => void;
  /** Called when the service no longer has these changes. */
  readonly onReplaced: () => void;
}

/** The tree and the diffs of a repository's changed files. */
export function RepositoryFiles(props: RepositoryFilesProps) {
  const { id, turn, changes, isOnly, view, search, path, box, onSearch, onPath, onReplaced } = props;
  const environment = useRelayEnvironment();
  const { directory } = changes.repository;
  const { updatedAt } = changes;
  const store = useMemo(
    () => new FilesStore(environment, { id, turn, directory, updatedAt, search }),
    [environment, id, turn, directory, updatedAt, search],
  );
  const snapshot = useSyncExternalStore(store.listen, store.snapshot);
  const { files, total, hasMore, isLoading, error, isReplaced } = snapshot;
  const [target, setTarget] = useState<{ readonly key: string; readonly hasFocus: boolean } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the file that the page was opened with.
  useEffect(() => {
    setTarget(null);
    void store.loadMore();
    if (path === '') return;
    void store.find(path).then((index) => {
      const file = store.snapshot().files[index];
      if (file) setTarget({ key: file.key, hasFocus: false });
    });
  }, [store]);
  useEffect(() => {
    if (isReplaced) onReplaced();
  }, [isReplaced, onReplaced]);
  const comparison = useMemo(() => ({ directory, turn, isOnlyRepository: isOnly }), [directory, turn, isOnly]);
  useMissingFiles(comparison, search === '' && !hasMore && total !== null ? files : null);
  const choose = (file: ListedFile) => {
    setTarget({ key: file.key, hasFocus: true });
    onPath(file.path);
  };
  const [isTreeOpen, setTreeOpen] = useState(false);
  return (
    <div className="changed-files">
      <div className="tree-side" data-open={isTreeOpen || undefined}>
        <Filter search={search} onSearch={onSearch} />
        <span className="tree-toggle">
          <Button size="small" icon="menu" aria-expanded={isTreeOpen} onClick={() => setTreeOpen(!isTreeOpen)}>
            {texts.files}
          </Button>
        </span>
        {files.length > 0 && (
          <FileTree
            files={files}
            chosen={target?.key ?? null}
            onChoose={(file) => {
              setTreeOpen(false);
              choose(file);
            }}
          />
        )}
        {hasMore && files.length > 0 && (
          <p className="tree-more">
            <span>
              {texts.filesShown({
                shown: files.length,
                total: total ?? 0,
              })}
            </span>
            <Button size="small" isBusy={isLoading} onClick={() => void store.loadMore()}>
              {texts.showMoreFiles}
            </Button>
          </p>
        )}
      </div>
      <div className="diffs">
        {files.length === 0 && isLoading && <Loading label={texts.loadingTheFiles} rows={4} />}
        {error !== null && <Failed message={error.message} onRetry={() => void store.loadMore()} />}
        {files.length === 0 && total !== null && !hasMore && (
          <p className="hint" role="status">
            {search === '' ? texts.filesGone : texts.noMatches}
          </p>
        )}
        <ComparisonContext value={comparison}>
          <FileList {...{ store, snapshot, view, box, target }} />
        </ComparisonContext>
      </div>
    </div>
  );
}

function Filter({ search, onSearch }: Pick<RepositoryFilesProps, 'search' | 'onSearch'>) {
  const [typed, setTyped] = useState(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the user stops typing.
  useEffect(() => {
    if (typed === search) return;
    const timer = window.setTimeout(() => onSearch(typed), filterMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextField
      label={texts.filterFilesByPath}
      isLabelHidden
      type="search"
      placeholder={texts.filterFiles}
      value={typed}
      maxLength={200}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}
