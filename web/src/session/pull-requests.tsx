import { pullRequests as texts } from '../texts/session-pull-requests.ts';
import { RichText } from '../ui/rich-text.tsx';
import './pull-requests.css';
import { graphql, useFragment } from 'react-relay';
import type {
  pullRequests_session$data,
  pullRequests_session$key,
} from '../__generated__/pullRequests_session.graphql.ts';
import { Icon } from '../ui/icons.tsx';
import { safeAddress } from '../ui/safe-address.ts';
import { visible } from '../ui/visible.ts';
import { FollowUps } from './follow-ups.tsx';
import { OpenPullRequest } from './open-pull-request.tsx';
import { plainTitle } from './plain-title.ts';
import { PullRequestBadge } from './pull-request-badge.tsx';
import { isPullRequestOf, pullRequestName } from './pull-request-name.ts';
import { checkStateOf, checksOf, mergeabilityOf, reviewsOf } from './pull-request-text.ts';

type PullRequest = pullRequests_session$data['pullRequests'][number];

/** The pull requests of a session, each with its state, checks and reviews as far as the service has read them. */
export function PullRequests({ session }: { readonly session: pullRequests_session$key }) {
  const { sessionId, title, repositories, viewerCanManage, pullRequests, review } = useFragment(
    graphql`
      fragment pullRequests_session on Session @throwOnFieldError {
        sessionId
        title
        viewerCanManage {
          isAllowed
        }
        repositories {
          host
          path
          branch
          state
          isReadOnly
          hasPullRequests
        }
        pullRequests {
          url
          state
          number
          title
          isDraft
          headBranch
          baseBranch
          mergeability
          checks {
            name
            state
            url
          }
          reviews {
            author
            state
            url
          }
          isTruncated
          ...followUps_pullRequest
        }
        review {
          pullRequestUrl
          state
          reviewUrl
        }
      }
    `,
    session,
  );
  const pushable = repositories.filter(
    (each) =>
      each.state === 'READY' &&
      !each.isReadOnly &&
      each.hasPullRequests &&
      !pullRequests.some((open) => isOpenOf(open, each)),
  );
  const mayOpen = viewerCanManage.isAllowed && pushable.length > 0;
  if (pullRequests.length === 0 && !mayOpen) return null;
  return (
    <section>
      <h2>{texts.pullRequests}</h2>
      <ul className="pull-requests" hidden={pullRequests.length === 0}>
        {pullRequests.map((each) => (
          <li key={each.url}>
            <Card pullRequest={each} />
            {review?.pullRequestUrl === each.url ? (
              <ReviewNote review={review} />
            ) : (
              <FollowUps sessionId={sessionId} pullRequest={each} mayManage={viewerCanManage.isAllowed} />
            )}
          </li>
        ))}
      </ul>
      {mayOpen && <OpenPullRequest sessionId={sessionId} title={plainTitle(title)} repositories={pushable} />}
    </section>
  );
}

const reviewTexts: Readonly<Record<string, string>> = texts.reviewTexts;

/** The state of the review that the session makes of a pull request. */
function ReviewNote({ review }: { readonly review: NonNullable<pullRequests_session$data['review']> }) {
  const { state, reviewUrl } = review;
  return (
    <p className={state === 'ERRORED' ? 'warn' : 'soft'}>
      {reviewTexts[state]}{' '}
      {reviewUrl != null && (
        <a href={safeAddress(reviewUrl)} target="_blank" rel="noopener noreferrer">
          {texts.readIt}
        </a>
      )}
    </p>
  );
}

/** Returns true for an open pull request of the branch of a session's repository. */
function isOpenOf(
  { url, state, headBranch }: PullRequest,
  repository: pullRequests_session$data['repositories'][number],
): boolean {
  return state === 'OPEN' && headBranch === repository.branch && isPullRequestOf(url, repository);
}

function Card({ pullRequest }: { readonly pullRequest: PullRequest }) {
  const { url, state, title, isDraft, headBranch, baseBranch, mergeability, checks, reviews } = pullRequest;
  const merge = mergeabilityOf(state, mergeability);
  return (
    <>
      <div className="pair">
        <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
          <Icon name="pull" size={14} />
          {pullRequestName(url)}
        </a>
        <PullRequestBadge state={isDraft && state === 'OPEN' ? 'DRAFT' : state} />
      </div>
      {title && <p className="title">{visible(title)}</p>}
      {headBranch && baseBranch && (
        <p className="soft">
          <RichText
            text={texts.into}
            slots={{ headBranch: <code>{visible(headBranch)}</code>, baseBranch: <code>{visible(baseBranch)}</code> }}
          />
        </p>
      )}
      {merge && <p className={merge.tone}>{merge.text}</p>}
      {checks && <Checks checks={checks} />}
      {reviewsOf(reviews ?? []).map(({ author, text, tone, url: reviewUrl }) => (
        <p className={tone} key={author}>
          {reviewUrl === null ? (
            visible(author)
          ) : (
            <a href={safeAddress(reviewUrl)} target="_blank" rel="noopener noreferrer">
              {visible(author)}
            </a>
          )}{' '}
          {text}
        </p>
      ))}
      {pullRequest.isTruncated && <p className="soft">{texts.more}</p>}
    </>
  );
}

function Checks({ checks }: { readonly checks: NonNullable<PullRequest['checks']> }) {
  const sum = checksOf(checks);
  if (sum === null) return null;
  return (
    <details>
      <summary className={sum.tone}>{sum.text}</summary>
      <ul>
        {checks.map(({ name, state, url }, index) => {
          const { text, tone } = checkStateOf(state);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: checks may have equal names.
            <li className="pair" key={index}>
              {url == null ? (
                <span>{visible(name)}</span>
              ) : (
                <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
                  {visible(name)}
                </a>
              )}
              <span className={tone}>{text}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
