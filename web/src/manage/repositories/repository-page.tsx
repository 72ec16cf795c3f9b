import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { repositoryPageQuery } from '../../__generated__/repositoryPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { repositoryPage as texts } from '../../texts/repositories.ts';
import { safeAddress } from '../../ui/safe-address.ts';
import { visible } from '../../ui/visible.ts';
import '../kit/kit.ts';
import { BranchSettings } from './branch-settings.tsx';
import { Environment } from './environment.tsx';
import { FollowUpSettings } from './follow-up-settings.tsx';
import { MentionSettings } from './mention-settings.tsx';

/** `/manage/repositories/:id`: a repository and its settings. */
export function RepositoryPage({ id }: { readonly id: string }) {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<repositoryPageQuery>(
    graphql`
      query repositoryPageQuery($organizationId: ID!, $path: String!) {
        organization(id: $organizationId) {
          repository(path: $path) {
            host
            path
            webUrl
            description
            defaultBranch
            ...branchSettings_repository
            ...mentionSettings_repository
            ...followUpSettings_repository
            ...environment_repository
          }
        }
      }
    `,
    { organizationId: organization?.organizationId ?? '', path: id },
    { fetchPolicy: 'store-and-network' },
  );
  const repository = found.organization?.repository;
  if (!repository) {
    return (
      <NotFound
        title={texts.repositoryNotFound}
        text={texts.notFoundText}
        path="/manage/repositories"
        list={common.repositories}
      />
    );
  }
  const address = repository.webUrl ? safeAddress(repository.webUrl) : undefined;
  return (
    <Page title={visible(repository.path)}>
      <div className="sheets">
        <section className="card sheet" aria-label={common.repository}>
          <dl className="facts">
            <dt>{texts.provider}</dt>
            <dd>
              {address === undefined ? (
                visible(repository.host)
              ) : (
                <a href={address} target="_blank" rel="noreferrer">
                  {visible(repository.host)}
                </a>
              )}
            </dd>
            {repository.description && (
              <>
                <dt>{common.description}</dt>
                <dd>{visible(repository.description)}</dd>
              </>
            )}
            <dt>{common.defaultBranch}</dt>
            <dd>{repository.defaultBranch ? visible(repository.defaultBranch) : common.unknown}</dd>
          </dl>
        </section>
        <BranchSettings repository={repository} />
        <MentionSettings repository={repository} />
        <FollowUpSettings repository={repository} />
        <Environment repository={repository} />
        <p>
          <Link href="/manage/repositories">{texts.allRepositories}</Link>
        </p>
      </div>
    </Page>
  );
}
