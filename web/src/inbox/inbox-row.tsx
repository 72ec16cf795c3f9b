import { type MouseEvent, memo } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { inboxRow_session$key } from '../__generated__/inboxRow_session.graphql.ts';
import { usePageActions } from '../layout/page-actions.ts';
import { sessionAddress } from '../session/address.ts';
import { plainText, plainTitle } from '../session/plain-title.ts';
import { ChangedLines } from '../sessions/changed-lines.tsx';
import { pullRequestChips } from '../sessions/pull-request-chips.ts';
import { inboxRow as texts } from '../texts/inbox.ts';
import { sessionRow } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { writeNumber } from '../ui/number.ts';
import { type Shown, showStatus } from '../ui/status.ts';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { reasonOf } from './reason.ts';
import type { Archivable } from './use-archive.ts';
import { leaveRow } from './use-inbox-keys.ts';
import type { Pinnable } from './use-pin.ts';

interface InboxRowProps {
  readonly session: inboxRow_session$key;
  /** True if the page shows this session. */
  readonly isCurrent: boolean;
  /** Null for viewers who cannot pin. */
  readonly onPin: ((session: Pinnable) => void) | null;
  /** Null for viewers who cannot archive. */
  readonly onArchive: ((session: Archivable) => void) | null;
}

/** A session in the inbox, 40 pixels high. */
export const InboxRow = memo(function InboxRow(props: InboxRowProps) {
  const { session: reference, isCurrent, onPin, onArchive } = props;
  const session = useFragment(
    graphql`
      fragment inboxRow_session on Session @throwOnFieldError {
        id
        sessionId
        title
        status
        statusDetail
        endReason
        isPinned
        isUnread
        updatedAt
        acusConsumed
        agent
        agentProfile {
          name
        }
        pullRequests {
          state
        }
        pendingQuestion {
          reason
        }
        # For moveRow.
        createdAt
        isArchived
        group
        createdBy {
          id
        }
        repositories {
          path
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
    reference,
  );
  const { id, sessionId, isPinned, updatedAt, status, statusDetail } = session;
  const title = plainTitle(session.title);
  const { label, tone, isWorking = false } = showStatus(session);
  // The page that shows a session marks it as read.
  const isUnread = session.isUnread && !isCurrent;
  const archive = ({ detail, currentTarget }: MouseEvent) => {
    const row = currentTarget.closest('li');
    // By a key.
    if (detail === 0 && row) leaveRow(row);
    onArchive?.({ sessionId, status, statusDetail, pendingQuestion: session.pendingQuestion });
  };
  return (
    <li className="inbox-row" data-unread={isUnread || undefined} data-current={isCurrent || undefined}>
      <i className={`dot ${tone}${isWorking ? ' working' : ''}`} role="img" aria-label={label} title={label} />
      <div className="inbox-text">
        <p>
          <Link
            href={sessionAddress(sessionId)}
            data-list-item
            data-unread={isUnread || undefined}
            aria-current={isCurrent ? 'page' : undefined}
            title={title}
          >
            {title}
          </Link>
          {isUnread && <i className="unread" role="img" aria-label={texts.unread} title={texts.unread} />}
          {isPinned && (
            <span className="pin-mark">
              <Icon name="pin" size={12} />
            </span>
          )}
          <Time at={updatedAt} />
        </p>
        <Facts {...session} shownTitle={title} reason={reasonOf(session)} />
      </div>
      {onPin && isCurrent && <PinAction isPinned={isPinned} onPin={() => onPin({ id, sessionId, isPinned })} />}
      {onPin && (
        <span className="inbox-acts" data-pinned={isPinned || undefined}>
          {onArchive && (
            <Button
              tone="quiet"
              size="small"
              icon="archive"
              data-act="archive"
              aria-label={texts.archive({ title })}
              onClick={archive}
            />
          )}
          <Button
            data-act="pin"
            tone="quiet"
            size="small"
            icon="pin"
            aria-pressed={isPinned}
            aria-label={isPinned ? texts.unpin({ title }) : texts.pin({ title })}
            onClick={() => onPin({ id, sessionId, isPinned })}
          />
        </span>
      )}
    </li>
  );
});

/** The action of the palette that pins the session of the page, or unpins it. */
function PinAction({ isPinned, onPin }: { readonly isPinned: boolean; readonly onPin: () => void }) {
  usePageActions([{ label: isPinned ? texts.unpinSession : texts.pinSession, icon: 'pin', run: onPin }]);
  return null;
}

interface FactsProps {
  readonly reason: Pick<Shown, 'label' | 'tone'> | null;
  readonly shownTitle: string;
  readonly acusConsumed: number;
  readonly agent: string | null | undefined;
  readonly agentProfile: { readonly name: string } | null | undefined;
  readonly pullRequests: readonly { readonly state: string }[];
  readonly repositories: readonly { readonly path: string }[];
  readonly changes: readonly { readonly additions: number; readonly deletions: number }[];
  readonly messages: { readonly nodes: readonly { readonly preview: string }[] };
}

/** The second line of a row, as far as there is room: what is longest comes last. */
function Facts(props: FactsProps) {
  const { reason, shownTitle, acusConsumed, agent, agentProfile, pullRequests, repositories, changes, messages } =
    props;
  const [repository] = repositories;
  const added = changes.reduce((sum, { additions }) => sum + additions, 0);
  const removed = changes.reduce((sum, { deletions }) => sum + deletions, 0);
  const agentName = agentProfile?.name ?? agent;
  const latest = plainText(messages.nodes[0]?.preview ?? '');
  return (
    <p className="facts">
      {reason && <span className={`reason ${reason.tone}`}>{reason.label}</span>}
      {pullRequestChips(pullRequests).map(({ text, tone }) => (
        <span className={`pull-request ${tone}`} key={text}>
          {text}
        </span>
      ))}
      {repository && <span>{visible(repository.path.split('/').at(-1) ?? '')}</span>}
      {added + removed > 0 && <ChangedLines {...{ added, removed }} />}
      {agentName && <span>{visible(agentName)}</span>}
      {acusConsumed >= 0.005 && <span>{sessionRow.acus({ acus: writeNumber(acusConsumed) })}</span>}
      {/* Most titles are the beginning of the prompt. */}
      {latest && !latest.startsWith(shownTitle.replace(/…$/, '')) && <span>{latest}</span>}
    </p>
  );
}
