import { Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  legalHoldsPage_enterprise$data,
  legalHoldsPage_enterprise$key,
} from '../../__generated__/legalHoldsPage_enterprise.graphql.ts';
import type { legalHoldsPagePaginationQuery } from '../../__generated__/legalHoldsPagePaginationQuery.graphql.ts';
import type { legalHoldsPageQuery } from '../../__generated__/legalHoldsPageQuery.graphql.ts';
import type { legalHoldsPageReleaseMutation } from '../../__generated__/legalHoldsPageReleaseMutation.graphql.ts';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { plainTitle } from '../../session/plain-title.ts';
import { common } from '../../texts/common.ts';
import { legalHoldsPage as texts } from '../../texts/legal-holds.ts';
import { nameOf } from '../../ui/actor.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { NewHold } from './new-hold.tsx';

type Hold = legalHoldsPage_enterprise$data['legalHolds']['edges'][number]['node'];

/** `/manage/legal-holds`: the legal holds of the enterprise, also released ones. */
export function LegalHoldsPage() {
  const [fetchKey, setFetchKey] = useState(0);
  const { enterprise } = useLazyLoadQuery<legalHoldsPageQuery>(
    graphql`
      query legalHoldsPageQuery {
        enterprise {
          ...legalHoldsPage_enterprise
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (!enterprise) return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
  return <Holds enterprise={enterprise} onChanged={() => setFetchKey((before) => before + 1)} />;
}

interface HoldsProps {
  readonly enterprise: legalHoldsPage_enterprise$key;
  readonly onChanged: () => void;
}

/** The name of what a hold is on, or its ID if the viewer may not see it. */
function targetOf({ session, organization, user, targetId }: Hold): string {
  if (session) return plainTitle(session.title);
  return visible(organization?.name ?? user?.name ?? user?.email ?? targetId);
}

function Holds({ enterprise, onChanged }: HoldsProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    legalHoldsPagePaginationQuery,
    legalHoldsPage_enterprise$key
  >(
    graphql`
      fragment legalHoldsPage_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "legalHoldsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        legalHolds(first: $count, after: $cursor) @connection(key: "legalHoldsPage_legalHolds") {
          edges {
            node {
              id
              legalHoldId
              targetId
              session {
                sessionId
                title
              }
              organization {
                name
              }
              user {
                name
                email
              }
              reason
              createdAt
              createdBy {
                id
                displayName
              }
              releasedAt
            }
          }
        }
      }
    `,
    enterprise,
  );
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Hold | null>(null);
  const [release] = useMutation<legalHoldsPageReleaseMutation>(graphql`
    mutation legalHoldsPageReleaseMutation($input: ReleaseLegalHoldInput!) {
      releaseLegalHold(input: $input) {
        legalHold {
          id
          releasedAt
        }
        userErrors {
          message
        }
      }
    }
  `);
  const columns: readonly Column<Hold>[] = [
    {
      label: texts.target,
      cell: (hold) =>
        hold.session ? (
          <Link className="row-link" data-list-item href={sessionAddress(hold.session.sessionId)}>
            {targetOf(hold)}
          </Link>
        ) : (
          targetOf(hold)
        ),
    },
    { label: texts.reason, cell: ({ reason }) => visible(reason) },
    { label: texts.createdBy, cell: ({ createdBy }) => nameOf(createdBy) },
    { label: common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: texts.released, cell: ({ releasedAt }) => releasedAt != null && <Time at={releasedAt} /> },
    actionsColumn((hold) =>
      hold.releasedAt == null ? (
        <Button size="small" aria-label={texts.releaseOf({ target: targetOf(hold) })} onClick={() => setLeaving(hold)}>
          {texts.release}
        </Button>
      ) : null,
    ),
  ];
  return (
    <Page
      title={common.legalHolds}
      actions={
        <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
          {texts.newHold}
        </Button>
      }
    >
      <List
        label={common.legalHolds}
        columns={columns}
        edges={data.legalHolds.edges}
        keyOf={({ id }) => id}
        empty={{ title: texts.emptyTitle, text: texts.emptyText }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {isNew && (
        <Suspense fallback={null}>
          <NewHold onClose={() => setNew(false)} onDone={onChanged} />
        </Suspense>
      )}
      {leaving && (
        <ConfirmAction
          title={texts.releaseTitle({ target: targetOf(leaving) })}
          text={texts.releaseText}
          confirmLabel={texts.release}
          successMessage={texts.done}
          run={() => release({ input: { legalHoldId: leaving.legalHoldId } })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
