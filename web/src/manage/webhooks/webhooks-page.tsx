import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  webhooksPage_organization$data,
  webhooksPage_organization$key,
} from '../../__generated__/webhooksPage_organization.graphql.ts';
import type { webhooksPageDeleteMutation } from '../../__generated__/webhooksPageDeleteMutation.graphql.ts';
import type { webhooksPagePaginationQuery } from '../../__generated__/webhooksPagePaginationQuery.graphql.ts';
import type { webhooksPageQuery } from '../../__generated__/webhooksPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { webhooksPage as texts } from '../../texts/webhooks.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List, ShownOnce } from '../kit/kit.ts';
import { webhookEvents } from './webhook-events.ts';
import { WebhookForm } from './webhook-form.tsx';

type Endpoint = webhooksPage_organization$data['webhookEndpoints']['edges'][number]['node'];

/** `/manage/webhooks`: the URLs that receive session events. */
export function WebhooksPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<webhooksPageQuery>(
    graphql`
      query webhooksPageQuery($id: ID!) {
        organization(id: $id) {
          ...webhooksPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization || !found.organization) return <Empty title={common.noOrganization} />;
  return <Webhooks organization={found.organization} organizationId={organization.organizationId} />;
}

interface WebhooksProps {
  readonly organization: webhooksPage_organization$key;
  readonly organizationId: string;
}

function Webhooks({ organization, organizationId }: WebhooksProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    webhooksPagePaginationQuery,
    webhooksPage_organization$key
  >(
    graphql`
      fragment webhooksPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "webhooksPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        webhookEndpoints(first: $count, after: $cursor) @connection(key: "webhooksPage_webhookEndpoints") {
          __id
          edges {
            node {
              id
              webhookEndpointId
              url
              description
              eventTypes
              isEnabled
              disabledReason
              consecutiveFailures
              createdAt
            }
          }
        }
      }
    `,
    organization,
  );
  const [form, setForm] = useState<Endpoint | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Endpoint | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const connections = [data.webhookEndpoints.__id];
  const [remove] = useMutation<webhooksPageDeleteMutation>(graphql`
    mutation webhooksPageDeleteMutation($input: DeleteWebhookEndpointInput!, $connections: [ID!]!) {
      deleteWebhookEndpoint(input: $input) {
        deletedWebhookEndpointId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const columns: readonly Column<Endpoint>[] = [
    {
      label: common.url,
      cell: ({ id, url, description }) => (
        <div>
          <Link className="row-link" data-list-item href={`/manage/webhooks/${id}`}>
            {visible(url)}
          </Link>
          {description && <span className="under">{visible(description)}</span>}
        </div>
      ),
    },
    {
      label: common.eventTypes,
      cell: ({ eventTypes }) => eventTypes.map((type) => webhookEvents[type] ?? type).join(', '),
    },
    { label: common.status, cell: (endpoint) => <EndpointState {...endpoint} /> },
    { label: common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((endpoint) => (
      <>
        <Button size="small" aria-label={common.editName({ name: endpoint.url })} onClick={() => setForm(endpoint)}>
          {common.edit}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={common.deleteName({ name: endpoint.url })}
          onClick={() => setLeaving(endpoint)}
        >
          {common.delete}
        </Button>
      </>
    )),
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      {texts.newWebhook}
    </Button>
  );
  return (
    <Page title={common.webhooks} actions={add}>
      <List
        label={common.webhooks}
        columns={columns}
        edges={data.webhookEndpoints.edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.noWebhooksYet,
          text: texts.emptyText,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {form && (
        <WebhookForm
          organizationId={organizationId}
          endpoint={form === 'new' ? null : form}
          connections={connections}
          onSecret={setSecret}
          onClose={() => setForm(null)}
        />
      )}
      {secret && (
        <ShownOnce
          title={texts.webhookSecret}
          values={[{ label: common.secret, value: secret }]}
          onClose={() => setSecret(null)}
        />
      )}
      {leaving && (
        <ConfirmAction
          title={texts.deleteTitle}
          text={texts.deleteText({ url: leaving.url })}
          confirmLabel={common.delete}
          successMessage={texts.webhookDeleted}
          run={() => remove({ input: { webhookEndpointId: leaving.webhookEndpointId }, connections })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}

/** The state of an endpoint: enabled or not, and the success of its deliveries. */
export function EndpointState(props: {
  readonly isEnabled: boolean;
  readonly disabledReason: string | null | undefined;
  readonly consecutiveFailures: number;
}) {
  if (!props.isEnabled) {
    return (
      <div>
        <Badge tone={props.disabledReason ? 'bad' : 'plain'}>{common.disabled}</Badge>
        {props.disabledReason && <span className="under">{props.disabledReason}</span>}
      </div>
    );
  }
  if (props.consecutiveFailures > 0) return <Badge tone="warn">{texts.failing}</Badge>;
  return <Badge tone="good">{common.enabled}</Badge>;
}
