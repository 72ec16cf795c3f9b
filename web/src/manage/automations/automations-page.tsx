import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type {
  automationsPage_organization$data,
  automationsPage_organization$key,
} from '../../__generated__/automationsPage_organization.graphql.ts';
import type { automationsPagePaginationQuery } from '../../__generated__/automationsPagePaginationQuery.graphql.ts';
import type { automationsPageQuery } from '../../__generated__/automationsPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { automationsPage as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, List } from '../kit/kit.ts';
import { AutomationButtons } from './automation-buttons.tsx';
import { triggerLabel } from './labels.ts';

type Automation = automationsPage_organization$data['automations']['edges'][number]['node'];

/** `/manage/automations`: the automations of the organization. */
export function AutomationsPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<automationsPageQuery>(
    graphql`
      query automationsPageQuery($id: ID!) {
        organization(id: $id) {
          ...automationsPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return <Automations organization={found.organization} />;
}

function Automations({ organization }: { readonly organization: automationsPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    automationsPagePaginationQuery,
    automationsPage_organization$key
  >(
    graphql`
      fragment automationsPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "automationsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        automations(first: $count, after: $cursor) @connection(key: "automationsPage_automations") {
          __id
          edges {
            node {
              id
              name
              isEnabled
              nextRunAt
              lastRunAt
              consecutiveFailures
              lastErrorMessage
              triggers {
                eventType
              }
              viewerCanManage {
                isAllowed
              }
              ...automationButtons_automation
            }
          }
        }
      }
    `,
    organization,
  );
  const { may } = useSigned();
  const [, go] = useLocation();
  const mayChange = may('MANAGE_ORG_AUTOMATIONS');
  const columns: readonly Column<Automation>[] = [
    {
      label: common.name,
      cell: ({ id, name, triggers }) => (
        <div>
          <Link className="row-link" data-list-item href={`/manage/automations/${id}`}>
            {visible(name)}
          </Link>
          <span className="under">{[...new Set(triggers.map(triggerLabel))].join(', ')}</span>
        </div>
      ),
    },
    {
      label: common.status,
      cell: ({ isEnabled, consecutiveFailures, lastErrorMessage }) =>
        consecutiveFailures > 0 ? (
          <span title={lastErrorMessage ?? undefined}>
            <Badge tone="bad">{texts.failedTimes({ count: consecutiveFailures })}</Badge>
          </span>
        ) : (
          <Badge tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? common.enabled : common.disabled}</Badge>
        ),
    },
    { label: texts.nextRun, cell: ({ nextRunAt }) => (nextRunAt ? <Time at={nextRunAt} /> : null) },
    { label: texts.lastRun, cell: ({ lastRunAt }) => (lastRunAt ? <Time at={lastRunAt} /> : null) },
    actionsColumn((automation) =>
      automation.viewerCanManage.isAllowed ? (
        <AutomationButtons automation={automation} connections={[data.automations.__id]} />
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => go('/manage/automations/new')}>
      {texts.newAutomation}
    </Button>
  ) : null;
  return (
    <Page title={common.automations} actions={add}>
      <List
        label={common.automations}
        columns={columns}
        edges={data.automations.edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.noAutomationsYet,
          text: texts.emptyText,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
    </Page>
  );
}
