import { graphql, useFragment } from 'react-relay';
import type {
  repositories_session$data,
  repositories_session$key,
} from '../__generated__/repositories_session.graphql.ts';
import { common } from '../texts/common.ts';
import { repositories as texts } from '../texts/session-details.ts';
import { Badge } from '../ui/badge.tsx';
import { Icon } from '../ui/icons.tsx';
import { safeAddress } from '../ui/safe-address.ts';
import { visible } from '../ui/visible.ts';
import { PullRequestBadge } from './pull-request-badge.tsx';
import { isPullRequestOf, pullRequestName } from './pull-request-name.ts';
import { baseOf, repositoryName, repositoryState } from './repository-text.ts';

const fragment = graphql`
  fragment repositories_session on Session @throwOnFieldError {
    repositories {
      host
      path
      branch
      baseRef
      baseCommit
      requestedRef
      pullRequestNumber
      isReadOnly
      state
      error
    }
    pullRequests {
      url
      state
      isDraft
    }
  }
`;

/** Maximum number of repositories, and of pull requests, below the title. */
const maxShown = 2;

/**
 * A line with the repositories of the session, their branches and its pull requests, below its title. On a narrow page, it has the
 * pull requests alone.
 */
export function RepositoryLine({ session }: { readonly session: repositories_session$key }) {
  const { repositories, pullRequests } = useFragment(fragment, session);
  if (repositories.length === 0 && pullRequests.length === 0) return null;
  const shown = repositories.slice(0, maxShown);
  const others = repositories.length - maxShown;
  // The open ones first.
  const links = [...pullRequests].sort((a, b) => Number(b.state === 'OPEN') - Number(a.state === 'OPEN'));
  const shownLinks = links.slice(0, maxShown);
  const isBeside = ({ url }: PullRequest) => shown.some((each) => isPullRequestOf(url, each));
  return (
    <p className="session-repositories">
      {shown.map((each) => (
        <span key={`${each.host}/${each.path}`}>
          <span className="repository">
            <Icon name="book" size={14} /> {visible(repositoryName(each))} <code>{visible(each.branch)}</code>
          </span>
          {shownLinks
            .filter(({ url }) => isPullRequestOf(url, each))
            .map((link) => (
              <PullRequestLink pullRequest={link} isBeside key={link.url} />
            ))}
        </span>
      ))}
      {others > 0 && <span className="repository">{texts.andMore({ others })}</span>}
      {shownLinks
        .filter((link) => !isBeside(link))
        .map((link) => (
          <PullRequestLink pullRequest={link} key={link.url} />
        ))}
      {links.length > maxShown && <span>{texts.morePullRequests({ count: links.length - maxShown })}</span>}
    </p>
  );
}

type PullRequest = repositories_session$data['pullRequests'][number];

interface PullRequestLinkProps {
  readonly pullRequest: PullRequest;
  /** True beside its repository: the number is enough. */
  readonly isBeside?: boolean;
}

function PullRequestLink({ pullRequest: { url, state, isDraft }, isBeside = false }: PullRequestLinkProps) {
  const name = pullRequestName(url);
  return (
    <span className="pull-request">
      <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer" title={name}>
        <Icon name="pull" size={14} />
        <span className="for-readers">{common.pullRequest}</span>
        {isBeside ? (/#\d+$/.exec(name)?.[0] ?? name) : name}
      </a>{' '}
      <PullRequestBadge state={isDraft && state === 'OPEN' ? 'DRAFT' : state} />
    </span>
  );
}

/** The repositories of the session with their state, branch and base. */
export function RepositoryFacts({ session }: { readonly session: repositories_session$key }) {
  const { repositories } = useFragment(fragment, session);
  if (repositories.length === 0) return null;
  return (
    <section>
      <h2>{common.repositories}</h2>
      <ul className="repository-facts">
        {repositories.map((each) => {
          const state = repositoryState(each.state);
          return (
            <li key={`${each.host}/${each.path}`}>
              <span className="pair">
                <b>{visible(repositoryName(each))}</b>
                <Badge tone={state.tone} isWorking={each.state === 'CLONING'}>
                  {state.label}
                </Badge>
              </span>
              <dl className="session-facts">
                <div>
                  <dt>{texts.branch}</dt>
                  <dd>
                    <code>{visible(each.branch)}</code>
                  </dd>
                </div>
                <div>
                  <dt>{texts.base}</dt>
                  <dd>{visible(baseOf(each))}</dd>
                </div>
                {each.isReadOnly && (
                  <div>
                    <dt>{texts.access}</dt>
                    <dd>{texts.readOnly}</dd>
                  </div>
                )}
              </dl>
              {each.error != null && <p className="problem">{visible(each.error)}</p>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
