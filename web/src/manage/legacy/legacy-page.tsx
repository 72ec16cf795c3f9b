import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  legacyPage_organization$data,
  legacyPage_organization$key,
} from '../../__generated__/legacyPage_organization.graphql.ts';
import type { legacyPagePaginationQuery } from '../../__generated__/legacyPagePaginationQuery.graphql.ts';
import type { legacyPageQuery } from '../../__generated__/legacyPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { legacyPage as texts } from '../../texts/legacy.ts';
import { writeNumber } from '../../ui/number.ts';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { List } from '../kit/kit.ts';

type Call = legacyPage_organization$data['legacyCalls']['edges'][number]['node'];

const columns: readonly Column<Call>[] = [
  {
    label: common.key,
    cell: ({ apiKey, apiKeyId }) => (
      <div>
        {apiKey?.name ?? texts.deletedKey}
        <span className="under">{apiKey?.display ?? apiKeyId}</span>
      </div>
    ),
  },
  {
    label: texts.route,
    cell: ({ route, version }) => (
      <div>
        <code>{route}</code>
        <span className="under">{version.toLowerCase()}</span>
      </div>
    ),
  },
  { label: texts.calls, isNumber: true, cell: ({ count }) => writeNumber(count) },
  { label: texts.lastCall, cell: ({ lastCalledAt }) => <Time at={lastCalledAt} /> },
];

/** `/manage/legacy-api`: the callers of deprecated endpoints. */
export function LegacyPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<legacyPageQuery>(
    graphql`
      query legacyPageQuery($id: ID!) {
        organization(id: $id) {
          ...legacyPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return <Calls organization={found.organization} />;
}

function Calls({ organization }: { readonly organization: legacyPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    legacyPagePaginationQuery,
    legacyPage_organization$key
  >(
    graphql`
      fragment legacyPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "legacyPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        legacyCalls(first: $count, after: $cursor) @connection(key: "legacyPage_legacyCalls") {
          edges {
            node {
              apiKeyId
              route
              version
              count
              lastCalledAt
              apiKey {
                name
                display
              }
            }
          }
        }
      }
    `,
    organization,
  );
  return (
    <Page title={texts.legacyApi}>
      <p className="lead">{texts.intro}</p>
      <List
        label={texts.listLabel}
        columns={columns}
        edges={data.legacyCalls.edges}
        keyOf={({ apiKeyId, route, version }) => `${apiKeyId} ${version} ${route}`}
        empty={{ title: texts.emptyTitle, text: texts.emptyText }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
    </Page>
  );
}
