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
import { common } from '../../texts/common.ts';
import { deliveries as texts } from '../../texts/webhooks.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { actionsColumn, List } from '../kit/kit.ts';

type Delivery = deliveries_endpoint$data['deliveries']['edges'][number]['node'];

const states = {
  DELIVERED: { tone: 'good', label: texts.delivered },
  PENDING: { tone: 'info', label: texts.pending },
  FAILED: { tone: 'bad', label: common.failed },
} as const;

const sent: Readonly<Record<string, string>> = texts.sent;

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
    { label: common.time, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      label: texts.event,
      cell: ({ eventType, session }) => (
        <div>
          <span>{sent[eventType] ?? eventType}</span>
          {session && (
            <span className="under">
              <Link href={sessionAddress(session.sessionId)}>{session.title ?? common.session}</Link>
            </span>
          )}
        </div>
      ),
    },
    {
      label: common.status,
      cell: ({ status, nextAttemptAt }) => {
        const { tone, label } = states[status as keyof typeof states] ?? { tone: 'plain', label: status };
        return (
          <div>
            <Badge tone={tone}>{label}</Badge>
            {nextAttemptAt && (
              <span className="under">
                <RichText text={texts.nextAttempt} slots={{ time: <Time at={nextAttemptAt} /> }} />
              </span>
            )}
          </div>
        );
      },
    },
    { label: texts.attempts, cell: ({ attempts }) => <Attempts attempts={attempts} /> },
    actionsColumn((delivery) => (
      <Button
        size="small"
        disabled={isBusy}
        aria-label={texts.redeliverEvent({ event: sent[delivery.eventType] ?? delivery.eventType })}
        onClick={() =>
          void redeliver({ input: { webhookDeliveryId: delivery.webhookDeliveryId } }).then(({ errors }) => {
            if (errors !== null) return;
            toasts.say(texts.redeliveryQueued);
            onRedelivered();
          })
        }
      >
        {texts.redeliver}
      </Button>
    )),
  ];
  return (
    <List
      label={texts.deliveries}
      columns={columns}
      edges={data.deliveries.edges}
      keyOf={({ id }) => id}
      empty={{ title: texts.emptyTitle, text: texts.emptyText }}
      hasMore={hasNext}
      isLoading={isLoadingNext}
      onMore={() => loadNext(30)}
    />
  );
}

function Attempts({ attempts }: { readonly attempts: Delivery['attempts'] }) {
  if (attempts.length === 0) return <span className="soft">{common.none}</span>;
  const last = attempts.at(-1);
  return (
    <details>
      <summary>
        {attempts.length}: {last?.statusCode ?? texts.noResponse}
      </summary>
      <ul>
        {attempts.map(({ startedAt, durationMs, statusCode, error, answer }) => (
          <li key={startedAt}>
            <RichText
              text={texts.attempt}
              slots={{
                time: <Time at={startedAt} />,
                duration: texts.milliseconds({ count: durationMs }),
                result: statusCode ?? error ?? texts.noResponse,
              }}
            />
            {statusCode && error ? ` (${error})` : ''}
            {answer && <pre className="code">{answer}</pre>}
          </li>
        ))}
      </ul>
    </details>
  );
}
