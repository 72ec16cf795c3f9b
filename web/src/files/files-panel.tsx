import { common } from '../texts/common.ts';
import { filesPanel as texts } from '../texts/files.ts';
import '../changes/changes.css';
import './files.css';
import { useEffect, useRef, useState } from 'react';
import { useUrlParams } from '../layout/use-url-params.ts';
import { useCheckpointChoices } from '../pickers/use-checkpoint-choices.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Picker } from '../ui/picker.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { CheckpointTime, MissingParts } from './checkpoint-note.tsx';
import { DirectoryList } from './directory-list.tsx';
import { DownloadButton } from './download-button.tsx';
import { parentOf } from './file-path.ts';
import { FileView } from './file-view.tsx';
import { useDirectory } from './use-directory.ts';
import { type LoadedFile, useFile } from './use-file.ts';
import { useNewerFiles } from './use-newer-files.ts';

interface FilesPanelProps {
  /** The global id of the session. */
  readonly id: string;
  /** Its REST id. */
  readonly sessionId: string;
  /** True if its workspace was deleted. */
  readonly isDeleted: boolean;
}

const urlNames = ['path', 'checkpoint'] as const;

/** The files of a session's workspace, as of its newest checkpoint or of another one. Its state is in the URL. */
export function FilesPanel({ id, sessionId, isDeleted }: FilesPanelProps) {
  const { values, change } = useUrlParams(urlNames);
  const [reading, setReading] = useState(0);
  const checkpoints = useCheckpointChoices(sessionId);
  const { checkpoint: checkpointId } = values;
  const path = values.path.replace(/\/+$/, '');
  const file = useFile({ id, path, checkpointId, reading });
  const directoryPath = useDirectoryPath(path, file);
  const { directory, error, isLoading, loadMore } = useDirectory({ id, path: directoryPath, checkpointId, reading });
  const open = (next: string) => change({ path: next }, { isNewEntry: true });
  const refresh = () => setReading(reading + 1);
  const isOther = typeof file === 'object' && !(file instanceof Error) && file.type !== 'DIRECTORY';
  const box = useRef<HTMLElement>(null);
  const isReading = path !== '' || directory?.isFirstPage === false;
  const isNewest = checkpointId === '' && !isDeleted;
  const hasNewer = useNewerFiles({ id, isNewest, shown: { directory, error }, isReading, refresh });
  if (directory !== null && directory.savedAt == null && error === null) return <NoFiles {...{ isDeleted, refresh }} />;
  return (
    <section className="files-panel" ref={box} tabIndex={-1} aria-label={texts.files}>
      <div className="files-bar">
        <Breadcrumbs path={path} onOpen={open} />
        <span className="files-actions">
          <Picker
            label={texts.checkpoint}
            isLabelHidden
            source={checkpoints}
            none={texts.newestCheckpoint}
            value={checkpointId}
            onChange={(checkpoint) => change({ checkpoint }, { isNewEntry: true })}
          />
          {directory?.savedAt != null && <CheckpointTime at={directory.savedAt} />}
          <Button size="small" isBusy={isLoading} onClick={refresh}>
            {common.refresh}
          </Button>
        </span>
      </div>
      <p role="status" className={hasNewer ? 'banner quiet newer' : undefined}>
        {hasNewer && (
          <>
            <Icon name="bell" />
            {texts.newer}
            <Button
              size="small"
              onClick={() => {
                // The button disappears.
                box.current?.focus();
                refresh();
              }}
            >
              {texts.showNewer}
            </Button>
          </>
        )}
      </p>
      {directory !== null && <MissingParts parts={directory.missing} />}
      <div className="files-body" data-shows={isOther ? 'file' : 'directory'}>
        <div className="files-list">
          {directory === null && error === null && <Loading label={texts.loadingTheFiles} />}
          {error !== null && <Failed message={error.message} onRetry={refresh} />}
          {directory !== null && error === null && (
            <>
              <DirectoryList
                directory={directory}
                chosen={path}
                isLoading={isLoading}
                onOpen={open}
                onMore={loadMore}
              />
              <DownloadButton
                source={{ id, path: directory.path, checkpointId }}
                label={directory.path === '' ? texts.downloadTheWorkspace : texts.downloadThisDirectory}
              />
            </>
          )}
        </div>
        <div className="files-content">
          <Content {...{ id, path, checkpointId, file, refresh, open }} />
        </div>
      </div>
    </section>
  );
}

/** The directory that is listed: the one at the path, or the one of the file there. The former one until that is known. */
function useDirectoryPath(path: string, file: LoadedFile): string | null {
  const [known, setKnown] = useState<string | null>(path === '' ? '' : null);
  const isFound = typeof file === 'object' && !(file instanceof Error);
  const isDirectory = isFound && file.type === 'DIRECTORY';
  useEffect(() => {
    if (file === 'loading') return;
    setKnown(isDirectory || path === '' ? path : parentOf(path));
  }, [file, isDirectory, path]);
  return known;
}

interface ContentProps {
  readonly id: string;
  readonly path: string;
  readonly checkpointId: string;
  readonly file: LoadedFile;
  readonly refresh: () => void;
  readonly open: (path: string) => void;
}

function Content({ id, path, checkpointId, file, refresh, open }: ContentProps) {
  if (path === '') return <p className="hint files-hint">{texts.chooseFile}</p>;
  if (file === 'loading') return <Loading label={texts.loadingTheFile} rows={4} />;
  if (file instanceof Error) return <Failed message={file.message} onRetry={refresh} />;
  if (file === 'missing') {
    return (
      <Empty title={texts.noSuchFile} text={texts.noSuchFileText}>
        <Button onClick={() => open('')}>{texts.goToRoot}</Button>
      </Empty>
    );
  }
  if (file.type === 'DIRECTORY') return <p className="hint files-hint">{texts.chooseFile}</p>;
  return <FileView source={{ id, path, checkpointId }} file={file} key={`${checkpointId} ${path}`} />;
}

function NoFiles({ isDeleted, refresh }: { readonly isDeleted: boolean; readonly refresh: () => void }) {
  const [title, text] = isDeleted ? [texts.workspaceDeleted, texts.deletedText] : [texts.noneYet, texts.noneYetText];
  return (
    <section className="files-panel" aria-label={texts.files}>
      <Empty title={title} text={text}>
        <Button onClick={refresh}>{common.refresh}</Button>
      </Empty>
    </section>
  );
}
