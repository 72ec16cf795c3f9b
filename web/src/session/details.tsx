import { acus as acuTexts } from '../texts/acus.ts';
import { common } from '../texts/common.ts';
import { details as texts } from '../texts/session-details.ts';
import './details.css';
import type { ReactNode } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { details_session$data, details_session$key } from '../__generated__/details_session.graphql.ts';
import { nameOf } from '../ui/actor.ts';
import { Icon } from '../ui/icons.tsx';
import { InfoTip } from '../ui/info-tip.tsx';
import { writeNumber } from '../ui/number.ts';
import { safeAddress } from '../ui/safe-address.ts';
import { writeSize } from '../ui/size.ts';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { sessionAddress } from './address.ts';
import { CopyAs } from './copy-as.tsx';
import { DeleteWorkspace } from './delete-workspace.tsx';
import { EditSession } from './edit-session.tsx';
import { plainTitle } from './plain-title.ts';
import { PullRequests } from './pull-requests.tsx';
import { RepositoryFacts } from './repositories.tsx';
import { SessionOptions } from './session-options.tsx';
import { ShareSession } from './share-session.tsx';
import { SubSessions } from './sub-sessions.tsx';

/** Labels of session origins. */
const originNames: Readonly<Record<string, string>> = common.origins;

type Session = details_session$data;

interface DetailsProps {
  readonly session: details_session$key;
  /** True if the viewer may edit the title and the tags. */
  readonly mayEdit: boolean;
  /** Further parts, before the options of the agent. */
  readonly children?: ReactNode;
}

/** The details of a session besides its messages, updated by the page's subscription. */
export function Details({ session: reference, mayEdit, children }: DetailsProps) {
  const session = useFragment(
    graphql`
      fragment details_session on Session @throwOnFieldError {
        sessionId
        status
        statusDetail
        endReason
        agent
        agentProfile {
          name
        }
        acusConsumed
        maxAcuLimit
        tags
        origin
        createdAt
        updatedAt
        createdBy {
          displayName
        }
        playbook {
          title
        }
        automation {
          name
        }
        mention {
          author
          repositoryPath
          number
          isPullRequest
          url
        }
        parent {
          sessionId
          title
        }
        forkedFrom {
          __typename
        }
        snapshotId
        attachments(first: 50) {
          nodes {
            id
            name
            sizeBytes
            source
            url
          }
        }
        ...useEditSession_session
        ...pullRequests_session
        ...repositories_session
        ...subSessions_session
        ...sessionOptions_session
        ...shareSession_session
        ...deleteWorkspace_session
      }
    `,
    reference,
  );
  const { attachments, status } = session;
  const isAsleep = status === 'EXIT' || status === 'SUSPENDED' || status === 'ERROR';
  return (
    <div className="details">
      <RepositoryFacts session={session} />
      <PullRequests session={session} />
      {attachments.nodes.length > 0 && (
        <Part title={texts.attachments}>
          <ul className="plain">
            {attachments.nodes.map(({ id, name, sizeBytes, source, url }) => (
              <li key={id} className="pair">
                <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
                  <Icon name="file" size={14} />
                  {visible(name)}
                </a>
                <small>
                  {source === 'AGENT' ? texts.sizeFromAgent({ size: writeSize(sizeBytes) }) : writeSize(sizeBytes)}
                </small>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {children}
      <SessionOptions session={session} />
      <SubSessions session={session} />
      <Acus session={session} />
      <Facts session={session}>{mayEdit && <EditSession session={session} />}</Facts>
      <ShareSession session={session} />
      <Part title={texts.copyAs}>
        <CopyAs sessionId={session.sessionId} />
      </Part>
      {mayEdit && isAsleep && (
        <section>
          <DeleteWorkspace session={session} />
        </section>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The consumption of a session, and its limit; nothing before it has either. */
function Acus({ session: { acusConsumed, maxAcuLimit } }: { readonly session: Session }) {
  if (acusConsumed === 0 && !maxAcuLimit) return null;
  const used = writeNumber(acusConsumed);
  const part = maxAcuLimit ? Math.min(1, acusConsumed / maxAcuLimit) : null;
  return (
    <section>
      <div className="with-tip">
        <h2>{acuTexts.name}</h2>
        <InfoTip label={acuTexts.question} text={acuTexts.explanation} />
      </div>
      <p className="used">{maxAcuLimit ? texts.usedOfLimit({ used, maxAcuLimit }) : texts.used({ used })}</p>
      {part !== null && (
        // biome-ignore lint/a11y/useSemanticElements: browsers let nobody say how that one looks.
        <div
          className={`meter${part >= 1 ? ' bad' : part > 0.8 ? ' warn' : ''}`}
          role="meter"
          aria-label={texts.meterLabel}
          aria-valuenow={acusConsumed}
          aria-valuemin={0}
          aria-valuemax={maxAcuLimit ?? 0}
        >
          <i style={{ width: `${part * 100}%` }} />
        </div>
      )}
    </section>
  );
}

/** The issue or the pull request whose mention started the session. */
function MentionSubject({ mention }: { readonly mention: NonNullable<Session['mention']> }) {
  const { repositoryPath, number, isPullRequest, url } = mention;
  const subject = isPullRequest
    ? texts.pullRequestOf({ number, repositoryPath: visible(repositoryPath) })
    : texts.issueOf({ number, repositoryPath: visible(repositoryPath) });
  if (url == null) return subject;
  return (
    <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
      {subject}
    </a>
  );
}

function Facts({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const { createdBy, parent, playbook, automation, mention } = session;
  const by = mention ? texts.byMention({ author: visible(mention.author) }) : nameOf(createdBy);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [texts.started, <Time at={session.createdAt} key="at" />],
    [common.updated, <Time at={session.updatedAt} key="at" />],
    [common.startedBy, by],
    [
      common.origin,
      mention ? (
        <MentionSubject mention={mention} key="mention" />
      ) : (
        (originNames[session.origin] ?? session.origin.toLowerCase())
      ),
    ],
    [common.agent, visible(session.agentProfile?.name ?? session.agent ?? '')],
    [common.playbook, playbook && visible(playbook.title)],
    [common.automation, automation && visible(automation.name)],
    [
      session.forkedFrom ? texts.forkedFrom : texts.parent,
      parent && (
        <Link href={sessionAddress(parent.sessionId)} key="parent">
          {plainTitle(parent.title)}
        </Link>
      ),
    ],
    [common.snapshot, session.snapshotId && <code key="snapshot">{visible(session.snapshotId)}</code>],
    [
      common.tags,
      session.tags.length > 0 &&
        session.tags.map((tag) => (
          <span className="tag" key={tag}>
            {visible(tag)}
          </span>
        )),
    ],
    ['ID', <code key="id">{session.sessionId}</code>],
  ];
  return (
    <Part title={texts.about}>
      <dl className="session-facts">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
      <div>{children}</div>
    </Part>
  );
}
