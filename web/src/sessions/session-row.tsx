import { memo, useRef } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { sessionFacts_session$key } from '../__generated__/sessionFacts_session.graphql.ts';
import type { sessionRow_session$key } from '../__generated__/sessionRow_session.graphql.ts';
import { sessionAddress } from '../session/address.ts';
import { plainText, plainTitle } from '../session/plain-title.ts';
import { repositoryName } from '../session/repository-text.ts';
import { common } from '../texts/common.ts';
import { inboxRow as inboxTexts } from '../texts/inbox.ts';
import { sessionRow as texts } from '../texts/sessions.ts';
import { nameOf } from '../ui/actor.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { Icon } from '../ui/icons.tsx';
import { writeNumber } from '../ui/number.ts';
import { RichText } from '../ui/rich-text.tsx';
import { quotaEnd } from '../ui/status.ts';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { ChangedLines } from './changed-lines.tsx';
import { pullRequestChips } from './pull-request-chips.ts';

interface SessionRowProps {
  readonly session: sessionRow_session$key;
  /** The same session. */
  readonly facts: sessionFacts_session$key;
  readonly sessionId: string;
  readonly isSelected: boolean;
  readonly onSelect: (sessionId: string, isSelected: boolean, isRange: boolean) => void;
}

/** A session in the list. */
export const SessionRow = memo(function SessionRow({
  session,
  facts,
  sessionId,
  isSelected,
  onSelect,
}: SessionRowProps) {
  const { title, tags, acusConsumed, createdBy, createdAt, updatedAt, pullRequests, isArchived, ...rest } = useFragment(
    graphql`
      fragment sessionRow_session on Session {
        title
        status
        statusDetail
        waitsUntil
        endReason
        isArchived
        tags
        acusConsumed
        createdAt
        updatedAt
        pullRequests {
          state
        }
        repositories {
          host
          path
        }
        createdBy {
          displayName
        }
      }
    `,
    session,
  );
  const { isUnread, agent, agentProfile, changes, messages } = useFragment(
    graphql`
      fragment sessionFacts_session on Session {
        isUnread
        agent
        agentProfile {
          name
        }
        changes {
          additions
          deletions
        }
        messages(last: 1) {
          nodes {
            preview
          }
        }
      }
    `,
    facts,
  );
  const shownTitle = plainTitle(title);
  const agentName = agentProfile?.name ?? agent;
  const added = (changes ?? []).reduce((sum, { additions }) => sum + additions, 0);
  const removed = (changes ?? []).reduce((sum, { deletions }) => sum + deletions, 0);
  const latest = plainText(messages?.nodes[0]?.preview ?? '');
  const { repositories, ...status } = rest;
  const [repository] = repositories ?? [];
  const more = (repositories ?? []).length - 1;
  const repositoryText = repository && visible(repositoryName(repository));
  const limitEnd = quotaEnd(status);
  const isShift = useRef(false);
  return (
    <li className={isSelected ? 'selected' : undefined}>
      <input
        type="checkbox"
        checked={isSelected}
        onClick={(event) => {
          isShift.current = event.shiftKey;
        }}
        onChange={(event) => onSelect(sessionId, event.target.checked, isShift.current)}
        aria-label={texts.select({ title: shownTitle })}
      />
      <div className="what">
        <div className="row-title">
          <Link href={sessionAddress(sessionId)} data-list-item data-unread={isUnread || undefined}>
            {shownTitle}
          </Link>
          {isUnread && <i className="unread" role="img" aria-label={inboxTexts.unread} title={inboxTexts.unread} />}
        </div>
        <p className="facts-of-row">
          <span>{nameOf(createdBy) ?? common.unknown}</span>
          <span>
            <RichText text={texts.started} slots={{ time: <Time at={createdAt} /> }} />
          </span>
          {repositoryText && (
            <span className="repository-of-row">
              <Icon name="book" size={12} />{' '}
              {more > 0 ? texts.repositories({ name: repositoryText, more }) : repositoryText}
            </span>
          )}
          {agentName && <span className="agent-of-row">{visible(agentName)}</span>}
          {added + removed > 0 && <ChangedLines {...{ added, removed }} />}
          {acusConsumed >= 0.005 && <span>{texts.acus({ acus: writeNumber(acusConsumed) })}</span>}
          {pullRequestChips(pullRequests).map(({ text, tone }) => (
            <span className={`pull-request ${tone}`} key={text}>
              <Icon name="pull" size={12} /> {text}
            </span>
          ))}
          {limitEnd !== null && <span>{texts.limitReached({ time: limitEnd.text })}</span>}
          {isArchived && <span className="tag">{common.archived}</span>}
          {tags.slice(0, 5).map((tag) => (
            <span className="tag" key={tag}>
              {visible(tag)}
            </span>
          ))}
        </p>
        {/* Most titles are the beginning of the prompt. */}
        {latest && !latest.startsWith(shownTitle.replace(/…$/, '')) && <p className="latest">{latest}</p>}
      </div>
      <StatusBadge {...status} />
      <span className="when">
        <Time at={updatedAt} />
      </span>
    </li>
  );
});
