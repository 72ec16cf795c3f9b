import { memo, useEffect, useRef } from 'react';
import { fileCard as texts } from '../texts/changes.ts';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { Icon } from '../ui/icons.tsx';
import { writeNumber } from '../ui/number.ts';
import { RichText } from '../ui/rich-text.tsx';
import { visible } from '../ui/visible.ts';
import type { Hunk } from './diff-lines.ts';
import { DiffTable, type DiffView } from './diff-table.tsx';
import { linesOf, modeChange, noDiffText, statusOf } from './file-text.ts';
import type { ListedFile, LoadedHunks } from './files-store.ts';
import { OutdatedComments, useLineComments } from './line-comments.tsx';

interface FileCardProps {
  readonly file: ListedFile;
  readonly hunks: LoadedHunks | undefined;
  readonly view: DiffView;
  readonly isOpen: boolean;
  /** True to move the focus to the file. */
  readonly isFocused: boolean;
  readonly onFocused: () => void;
  readonly onToggle: (file: ListedFile) => void;
  readonly onLoad: (file: ListedFile) => void;
}

/** A changed file: its path, its figures and its diff, which is loaded when the card is open. */
export const FileCard = memo(function FileCard(props: FileCardProps) {
  const { file, hunks, view, isOpen, isFocused, onFocused, onToggle, onLoad } = props;
  const button = useRef<HTMLButtonElement>(null);
  const copy = useCopy();
  useEffect(() => {
    if (!isFocused) return;
    button.current?.focus({ preventScroll: true });
    onFocused();
  }, [isFocused, onFocused]);
  const { path, oldPath, status } = file;
  const mode = modeChange(file);
  return (
    <section className="file-card" aria-label={visible(path)}>
      <header>
        <button type="button" className="file-name" aria-expanded={isOpen} ref={button} onClick={() => onToggle(file)}>
          <Icon name="chevron" size={14} />
          <Status status={status} />
          <span className="file-path">
            {oldPath != null && (
              <>
                <bdi>{visible(oldPath)}</bdi> →{' '}
              </>
            )}
            <bdi>{visible(path)}</bdi>
          </span>
        </button>
        {mode !== null && <span className="tag">{mode}</span>}
        <Figures file={file} />
        <Button
          tone="quiet"
          size="small"
          icon="copy"
          aria-label={texts.copyPath({ path })}
          onClick={() => void copy(path)}
        />
      </header>
      {isOpen && <Body {...{ file, hunks, view, onLoad }} />}
    </section>
  );
});

/** The letter of a change, with its name as tooltip and for screen readers. */
export function Status({ status }: { readonly status: string }) {
  const { letter, label, tone } = statusOf(status);
  return (
    <abbr className={`file-status ${tone}`} title={label}>
      <span aria-hidden="true">{letter}</span>
      <span className="for-readers">{label}</span>
    </abbr>
  );
}

function Figures({ file }: { readonly file: ListedFile }) {
  if (linesOf(file) === null) return null;
  return <LineCounts additions={file.additions ?? 0} deletions={file.deletions ?? 0} />;
}

/** The numbers of new and old lines. */
export function LineCounts(props: { readonly additions: number; readonly deletions: number }) {
  const { additions, deletions } = props;
  return (
    <span className="line-counts">
      <ins>
        <span className="for-readers">{texts.addedLines} </span>+{writeNumber(additions)}
      </ins>{' '}
      <del>
        <span className="for-readers">{texts.removedLines} </span>−{writeNumber(deletions)}
      </del>
    </span>
  );
}

function Body({ file, hunks, view, onLoad }: Pick<FileCardProps, 'file' | 'hunks' | 'view' | 'onLoad'>) {
  const text = noDiffText(file);
  useEffect(() => {
    if (text === null && hunks === undefined) onLoad(file);
  }, [text, hunks, onLoad, file]);
  if (text !== null) return <NoDiff path={file.path} text={text} />;
  if (hunks instanceof Error) {
    return (
      <p className="file-note" role="alert">
        <RichText
          text={texts.diffFailed}
          slots={{
            message: hunks.message,
            button: (text) => (
              <Button size="small" onClick={() => onLoad(file)}>
                {text}
              </Button>
            ),
          }}
        />
      </p>
    );
  }
  if (hunks === undefined || hunks === 'loading') {
    // As high as the diff, so that nothing moves.
    const height = `${Math.min(60, Math.max(2, linesOf(file) ?? 2)) * 1.2}rem`;
    return <div className="file-loading" role="status" aria-label={texts.loadingTheDiff} style={{ height }} />;
  }
  return <DiffTable path={file.path} status={file.status} hunks={hunks as readonly Hunk[]} view={view} />;
}

function NoDiff({ path, text }: { readonly path: string; readonly text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const { outdated } = useLineComments(path, noLines, box);
  return (
    <div className="no-diff" ref={box}>
      <OutdatedComments>{outdated}</OutdatedComments>
      <p className="file-note">{text}</p>
    </div>
  );
}

const noLines: readonly [] = [];
