import { noChanges, changesPanel as texts } from '../texts/changes.ts';
import { commentList as commentTexts } from '../texts/comments.ts';
import { common } from '../texts/common.ts';
import { RichText } from '../ui/rich-text.tsx';
import './changes.css';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useComments } from '../comments/comment-draft.ts';
import { useUrlParams } from '../layout/use-url-params.ts';
import { repositoryName } from '../session/repository-text.ts';
import type { TurnMark } from '../session/work-end.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { writeNumber } from '../ui/number.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { Downloads } from './downloads.tsx';
import { LineCounts } from './file-card.tsx';
import { NoChanges } from './no-changes.tsx';
import { RepositoryFiles } from './repository-files.tsx';
import { useAutoRefresh } from './use-auto-refresh.ts';
import { type LoadedChanges, type RepositoryChanges, useChanges } from './use-changes.ts';
import { useDiffView } from './use-diff-view.ts';
import { useIsComparing } from './use-is-comparing.ts';
import { useRefresh } from './use-refresh.ts';

/** The session whose changes are shown. */
export interface ChangesPanelProps {
  readonly id: string;
  readonly sessionId: string;
  /** The time of the last stored changes; null: none were stored. */
  readonly updatedAt: string | null;
  readonly hasRepositories: boolean;
  readonly isTurnOpen: boolean;
  /** The log position at which the agent last changed files or ended a command; null: none. */
  readonly workEnd: number | null;
  /** The last event of a turn in the log; null: none. */
  readonly lastTurn: TurnMark | null;
  /** Moves the focus to the field for messages. */
  readonly onWrite: () => void;
}

const urlNames = ['turn', 'repository', 'find', 'file'] as const;

/** The changes of a session's repositories: all, or those of one turn. Its state is in the URL. */
export function ChangesPanel(props: ChangesPanelProps) {
  const [path] = useLocation();
  const { values } = useUrlParams(urlNames);
  const turn = /^[1-9]\d{0,8}$/.test(values.turn) ? Number(values.turn) : null;
  if (!props.hasRepositories)
    return (
      <NoChanges reason="no-repository">
        <Link href={`${path}?tab=files`}>{noChanges.showFiles}</Link>
      </NoChanges>
    );
  return <TurnChanges {...props} turn={turn} key={turn} />;
}

function TurnChanges(props: ChangesPanelProps & { readonly turn: number | null }) {
  const { id, sessionId, updatedAt, isTurnOpen, workEnd, lastTurn, turn, onWrite } = props;
  const { values, change } = useUrlParams(urlNames);
  const box = useRef<HTMLElement>(null);
  const { comments } = useComments();
  const loaded = useChanges(id, turn, updatedAt);
  const { shown, error, showLatest, showNext, isBehind, isOutdated } = loaded;
  const [refresh, isRefreshing] = useRefresh(sessionId, updatedAt);
  const isComparing = useIsComparing({ isTurnOpen, turn: lastTurn, updatedAt });
  const noteRefresh = useAutoRefresh({
    ...{ workEnd, updatedAt },
    isActive: isTurnOpen && turn === null,
    refresh: () => refresh(true),
  });
  // A person who opens it while the agent works or asks wants to see what there is by now.
  const [isAutomatic] = useState(isTurnOpen && turn === null);
  const latest = useRef({ showNext, refresh });
  latest.current = { showNext, refresh };
  useEffect(() => {
    if (!isAutomatic) return;
    latest.current.showNext();
    latest.current.refresh();
  }, [isAutomatic]);
  const [isReplaced, setReplaced] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other changes are shown.
  useEffect(() => setReplaced(false), [shown]);
  const replaced = useCallback(() => setReplaced(true), []);
  const { view, choose } = useDiffView(box);
  const repository =
    shown?.repositories.find(({ repository: { directory } }) => directory === values.repository) ??
    shown?.repositories[0] ??
    null;
  // Only after the comparison is it known that there are none.
  const isLoading = shown === null || isBehind || isRefreshing || isComparing;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too.
    <section className="changes" ref={box} tabIndex={0} aria-label={texts.changes}>
      <div className="changes-bar">
        <TurnSelect
          turn={turn}
          lastTurn={Math.max(shown?.lastTurn ?? 0, turn ?? 0)}
          onChange={(value) => change({ turn: value, file: '' }, { isNewEntry: true })}
        />
        {shown !== null && shown.repositories.length > 1 && repository !== null && (
          <RepositorySelect
            repositories={shown.repositories}
            chosen={repository}
            onChange={(directory) => change({ repository: directory, file: '', find: '' }, { isNewEntry: true })}
          />
        )}
        {isTurnOpen && (
          <Button
            size="small"
            isBusy={isRefreshing}
            title={texts.refreshTitle}
            onClick={() => {
              showNext();
              noteRefresh();
              refresh();
            }}
          >
            {isRefreshing ? texts.refreshing : common.refresh}
          </Button>
        )}
        {comments.length > 0 && (
          <Button size="small" icon="edit" title={texts.writeTitle} onClick={onWrite}>
            {commentTexts.count({ count: comments.length })}
          </Button>
        )}
        {choose && <ViewChoice view={view} choose={choose} />}
      </div>
      <p role="status" className={isOutdated || isReplaced ? 'banner quiet newer' : undefined}>
        {(isOutdated || isReplaced) && (
          <>
            <Icon name="bell" />
            {texts.newer}
            <Button
              size="small"
              onClick={() => {
                // The button disappears.
                box.current?.focus();
                showLatest();
              }}
            >
              {texts.showNewer}
            </Button>
          </>
        )}
      </p>
      {repository === null && error !== null && <Failed message={error.message} onRetry={showLatest} />}
      {repository === null && error === null && isLoading && (
        <Loading label={isRefreshing || isComparing ? texts.comparing : texts.loadingTheChanges} />
      )}
      {repository === null && error === null && !isLoading && <NoChanges reason={reasonOf(props)} />}
      {repository !== null && (
        <>
          <Summary changes={repository} read={loaded.read} />
          {repository.fileCount === 0 ? (
            <NoChanges reason={turn === null ? 'nothing' : 'nothing-in-turn'} />
          ) : (
            <RepositoryFiles
              {...{ id, turn, view, box }}
              changes={repository}
              isOnly={shown?.repositories.length === 1}
              search={values.find}
              path={values.file}
              onSearch={(find) => change({ find })}
              onPath={(file) => change({ file })}
              onReplaced={replaced}
              key={`${repository.repository.directory} ${repository.updatedAt}`}
            />
          )}
        </>
      )}
    </section>
  );
}

function reasonOf({ updatedAt, isTurnOpen, turn }: ChangesPanelProps & { readonly turn: number | null }) {
  if (isTurnOpen) return 'not-yet';
  if (turn !== null && updatedAt !== null) return 'turn-not-stored';
  return 'not-stored';
}

interface TurnSelectProps {
  readonly turn: number | null;
  readonly lastTurn: number;
  readonly onChange: (turn: string) => void;
}

function TurnSelect({ turn, lastTurn, onChange }: TurnSelectProps) {
  return (
    <Select label={texts.turn} isLabelHidden value={turn ?? ''} onChange={({ target }) => onChange(target.value)}>
      <option value="">{texts.allTurns}</option>
      {Array.from({ length: lastTurn }, (_, index) => lastTurn - index).map((each) => (
        <option value={each} key={each}>
          {texts.turnNumber({ each })}
        </option>
      ))}
    </Select>
  );
}

interface RepositorySelectProps {
  readonly repositories: readonly RepositoryChanges[];
  readonly chosen: RepositoryChanges;
  readonly onChange: (directory: string) => void;
}

function RepositorySelect({ repositories, chosen, onChange }: RepositorySelectProps) {
  return (
    <Select
      label={common.repository}
      isLabelHidden
      value={chosen.repository.directory}
      onChange={({ target }) => onChange(target.value)}
    >
      {repositories.map(({ repository, fileCount }) => (
        <option value={repository.directory} key={repository.directory}>
          {visible(repositoryName(repository))} ({writeNumber(fileCount)})
        </option>
      ))}
    </Select>
  );
}

function ViewChoice({ view, choose }: { readonly view: string; readonly choose: (view: 'unified' | 'split') => void }) {
  const name = useId();
  return (
    <fieldset className="view-choice">
      <legend className="for-readers">{texts.view}</legend>
      {(['unified', 'split'] as const).map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={view === each} onChange={() => choose(each)} />
          {each === 'unified' ? texts.unified : texts.sideBySide}
        </label>
      ))}
    </fieldset>
  );
}

function Summary({ changes, read }: { readonly changes: RepositoryChanges } & Pick<LoadedChanges, 'read'>) {
  const { repository, base, head, fileCount, additions, deletions, isTruncated, updatedAt } = changes;
  return (
    <div className="changes-summary">
      <div className="facts">
        <b>{visible(repositoryName(repository))}</b>
        <span>
          <Commit label={texts.base} hash={base} none={texts.emptyRepository} /> →{' '}
          {head != null && head === base ? (
            texts.uncommittedChanges
          ) : (
            <Commit label={texts.head} hash={head} none={texts.noCommit} />
          )}
        </span>
        <span>{texts.fileCount({ count: fileCount })}</span>
        <LineCounts additions={additions} deletions={deletions} />
        <span className="soft">
          <RichText text={texts.compared} slots={{ time: <Time at={updatedAt} /> }} />
        </span>
        <Downloads changes={changes} read={read} />
      </div>
      {isTruncated && (
        <p className="hint">
          <Icon name="warning" size={14} /> {texts.limitExceeded}
        </p>
      )}
    </div>
  );
}

interface CommitProps {
  readonly label: string;
  readonly hash: string | null | undefined;
  readonly none: string;
}

function Commit({ label, hash, none }: CommitProps) {
  if (hash == null) return <span className="soft">{none}</span>;
  return <code title={`${label}: ${visible(hash)}`}>{visible(hash.slice(0, 7))}</code>;
}
