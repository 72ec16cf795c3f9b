import { repositoryRow as texts } from '../texts/session-details.ts';
import { RichText } from '../ui/rich-text.tsx';
import './repository-row.css';
import { Icon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import type { EntryOf } from './entry.ts';
import { pushTitle } from './repository-rows.ts';

/** A repository of the session while it is cloned, with the progress, and afterwards with the result. */
export function RepositoryRow({ entry }: { readonly entry: EntryOf<'RepositoryEvent'> }) {
  const { repository, repositoryState, percent, body, createdAt } = entry;
  const name = visible(repository);
  if (repositoryState === 'FAILED') {
    return (
      <div className="repository-row bad">
        <p>
          <Icon name="warning" size={14} />
          <span>
            <RichText text={texts.failed} slots={{ name: <b>{name}</b>, body: visible(body) }} />
          </span>
          <Time at={createdAt} />
        </p>
      </div>
    );
  }
  if (repositoryState === 'READY') {
    return (
      <div className="repository-row">
        <p>
          <Icon name="check" size={14} />
          <span>
            <RichText text={texts.isReady} slots={{ name: <b>{name}</b> }} />
          </span>
          <Time at={createdAt} />
        </p>
      </div>
    );
  }
  return (
    <div className="repository-row">
      <p>
        <Icon name="book" size={14} />
        <span>
          <RichText text={texts.cloning} slots={{ name: <b>{name}</b>, body: body !== '' && `: ${visible(body)}` }} />
        </span>
        {percent != null && <small>{percent} %</small>}
      </p>
      {percent != null && (
        <div
          className="meter"
          role="progressbar"
          aria-label={texts.cloneOf({ repository })}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ width: `${percent}%` }} />
        </div>
      )}
    </div>
  );
}

/** A push of the agent, with its commits or the reason why it was refused or its outcome is unknown. */
export function PushRow({ entry }: { readonly entry: EntryOf<'PushEvent'> }) {
  const { newCommit, pushOutcome, refusal, subjects, createdAt } = entry;
  const isAccepted = pushOutcome === 'ACCEPTED';
  return (
    <div className={`repository-row${isAccepted ? '' : ' warn'}`}>
      <p>
        <Icon name={isAccepted ? 'pull' : 'warning'} size={14} />
        <span>
          {visible(pushTitle(entry))}
          {refusal != null && `: ${visible(refusal)}`}
        </span>
        {isAccepted && newCommit != null && <code title={newCommit}>{newCommit.slice(0, 7)}</code>}
        <Time at={createdAt} />
      </p>
      {subjects.length > 0 && (
        <ul>
          {subjects.map((subject, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: commits may have equal subjects, and the list never changes.
            <li key={index}>{visible(subject)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
