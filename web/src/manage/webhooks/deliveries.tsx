import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  deliveries_endpoint$data,
  deliveries_endpoint$key,
} from '../../__generated__/deliveries_endpoint.graphql.ts';
import type { deliveriesPaginationQuery } from '../../__generated__/deliveriesPaginationQuery.graphql.ts';
import type { deliveriesRedeliverMutation } from '../../__generated__/deliveriesRedeliverMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { actionsColumn, List } from '../kit/kit.ts';

type Delivery = deliveries_endpoint$data['deliveries']['edges'][number]['node'];

const states = {
  DELIVERED: { tone: 'good', label: 'Delivered' },
  PENDING: { tone: 'info', label: 'Pending' },
  FAILED: { tone: 'bad', label: 'Failed' },
} as const;

const sent: Readonly<Record<string, string>> = {
  SESSION_MESSAGE: 'Message',
  SESSION_STATUS_CHANGED: 'Status change',
  SESSION_PULL_REQUEST_OPENED: 'Pull request opened',
  SESSION_PULL_REQUEST_MERGED: 'Pull request merged',
  SESSION_PULL_REQUEST_CLOSED: 'Pull request closed',
  SESSION_FOLLOW_UP_SENT: 'Follow-up sent',
  SESSION_FOLLOW_UPS_STOPPED: 'Follow-ups stopped',
  TEST: 'Test',
};

interface DeliveriesProps {
  readonly endpoint: deliveries_endpoint$key;
  readonly onRedelivered: () => void;
}

/** The deliveries of a webhook, newest first, with every attempt. */
export function Deliveries({ endpoint, onRedelivered }: DeliveriesProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    deliveriesPaginationQuery,
    deliveries_endpoint$key
  >(
    graphql`
      fragment deliveries_endpoint on WebhookEndpoint
      @refetchable(queryName: "deliveriesPaginationQuery")
      @argumentDefinitions(
        status: { type: "[WebhookDeliveryStatus!]" }
        count: { type: "Int", defaultValue: 30 }
        cursor: { type: "String" }
      ) {
        deliveries(first: $count, after: $cursor, filter: {status: $status})
          @connection(key: "deliveries_deliveries", filters: ["filter"]) {
          edges {
            node {
              id
              webhookDeliveryId
              eventType
              status
              createdAt
              nextAttemptAt
              session {
                sessionId
                title
              }
              attempts {
                startedAt
                durationMs
                statusCode
                error
                answer
              }
            }
          }
        }
      }
    `,
    endpoint,
  );
  const toasts = useToasts();
  const [redeliver, isBusy] = useMutation<deliveriesRedeliverMutation>(graphql`
    mutation deliveriesRedeliverMutation($input: RedeliverWebhookDeliveryInput!) {
      redeliverWebhookDelivery(input: $input) {
        webhookDelivery {
          id
          status
          nextAttemptAt
        }
        userErrors {
          message
        }
      }
    }
  `);
  const columns: readonly Column<Delivery>[] = [
    { label: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      label: 'Event',
      cell: ({ eventType, session }) => (
        <div>
          <span>{sent[eventType] ?? eventType}</span>
          {session && (
            <span className="under">
              <Link href={sessionAddress(session.sessionId)}>{session.title ?? 'Session'}</Link>
            </span>
          )}
        </div>
      ),
    },
    {
      label: 'Status',
      cell: ({ status, nextAttemptAt }) => {
        const { tone, label } = states[status as keyof typeof states] ?? { tone: 'plain', label: status };
        return (
          <div>
            <Badge tone={tone}>{label}</Badge>
            {nextAttemptAt && (
              <span className="under">
                Next attempt <Time at={nextAttemptAt} />
              </span>
            )}
          </div>
        );
      },
    },
    { label: 'Attempts', cell: ({ attempts }) => <Attempts attempts={attempts} /> },
    actionsColumn((delivery) => (
      <Button
        size="small"
        disabled={isBusy}
        aria-label={`Redeliver: ${sent[delivery.eventType] ?? delivery.eventType}`}
        onClick={() =>
          void redeliver({ input: { webhookDeliveryId: delivery.webhookDeliveryId } }).then(({ errors }) => {
            if (errors !== null) return;
            toasts.say('Redelivery queued.');
            onRedelivered();
          })
        }
      >
        Redeliver
      </Button>
    )),
  ];
  return (
    <List
      label="Deliveries"
      columns={columns}
      edges={data.deliveries.edges}
      keyOf={({ id }) => id}
      empty={{ title: 'No deliveries', text: 'Events that the service sends to this webhook appear here.' }}
      hasMore={hasNext}
      isLoading={isLoadingNext}
      onMore={() => loadNext(30)}
    />
  );
}

function Attempts({ attempts }: { readonly attempts: Delivery['attempts'] }) {
  if (attempts.length === 0) return <span className="soft">None</span>;
  const last = attempts.at(-1);
  return (
    <details>
      <summary>
        {attempts.length}: {last?.statusCode ?? 'no response'}
      </summary>
      <ul>
        {attempts.map(({ startedAt, durationMs, statusCode, error, answer }) => (
          <li key={startedAt}>
            <Time at={startedAt} />, {durationMs} ms: {statusCode ?? error ?? 'no response'}
            {statusCode && error ? ` (${error})` : ''}
            {answer && <pre className="code">{answer}</pre>}
          </li>
        ))}
      </ul>
    </details>
  );
}
