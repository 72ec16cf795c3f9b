import { graphql, useFragment } from 'react-relay';
import type { repositories_session$key } from '../__generated__/repositories_session.graphql.ts';
import { common } from '../texts/common.ts';
import { repositories as texts } from '../texts/session-details.ts';
import { Badge } from '../ui/badge.tsx';
import { Icon } from '../ui/icons.tsx';
import { visible } from '../ui/visible.ts';
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
  }
`;

/** Maximum number of repositories below the title. */
const maxShown = 2;

/** A line with the repositories of the session and their branches, below its title. */
export function RepositoryLine({ session }: { readonly session: repositories_session$key }) {
  const { repositories } = useFragment(fragment, session);
  if (repositories.length === 0) return null;
  const others = repositories.length - maxShown;
  return (
    <p className="session-repositories">
      {repositories.slice(0, maxShown).map((each) => (
        <span key={`${each.host}/${each.path}`}>
          <Icon name="book" size={14} /> {visible(repositoryName(each))} <code>{visible(each.branch)}</code>
        </span>
      ))}
      {others > 0 && <span>{texts.andMore({ others })}</span>}
    </p>
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
