import { type ReactNode, useState } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { webhookPage_endpoint$key } from '../../__generated__/webhookPage_endpoint.graphql.ts';
import type { webhookPageDisableMutation } from '../../__generated__/webhookPageDisableMutation.graphql.ts';
import type { webhookPageEnableMutation } from '../../__generated__/webhookPageEnableMutation.graphql.ts';
import type { WebhookDeliveryStatus, webhookPageQuery } from '../../__generated__/webhookPageQuery.graphql.ts';
import type { webhookPageRotateMutation } from '../../__generated__/webhookPageRotateMutation.graphql.ts';
import type { webhookPageTestMutation } from '../../__generated__/webhookPageTestMutation.graphql.ts';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { webhookPage as texts } from '../../texts/webhooks.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { ShownOnce } from '../kit/kit.ts';
import { Deliveries } from './deliveries.tsx';
import { webhookEvents } from './webhook-events.ts';
import { EndpointState } from './webhooks-page.tsx';

/** `/manage/webhooks/:id`: a webhook and its deliveries. */
export function WebhookPage({ id }: { readonly id: string }) {
  const [fetchKey, setFetchKey] = useState(0);
  const [status, setStatus] = useState<WebhookDeliveryStatus | ''>('');
  const { node } = useLazyLoadQuery<webhookPageQuery>(
    graphql`
      query webhookPageQuery($id: ID!, $status: [WebhookDeliveryStatus!]) {
        node(id: $id) {
          __typename
          ... on WebhookEndpoint {
            ...webhookPage_endpoint @alias(as: "shown")
            ...deliveries_endpoint @arguments(status: $status) @alias(as: "sent")
          }
        }
      }
    `,
    { id, status: status === '' ? null : [status] },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (node?.__typename !== 'WebhookEndpoint' || !node.shown || !node.sent) {
    return (
      <NotFound
        title={texts.webhookNotFound}
        text={common.mayBeDeleted}
        path="/manage/webhooks"
        list={common.webhooks}
      />
    );
  }
  const again = () => setFetchKey((before) => before + 1);
  return (
    <Shown endpoint={node.shown} onChanged={again}>
      <div className="tool-row">
        <Select
          label={common.status}
          value={status}
          onChange={(event) => setStatus(event.target.value as WebhookDeliveryStatus | '')}
        >
          <option value="">{texts.anyStatus}</option>
          <option value="DELIVERED">{texts.delivered}</option>
          <option value="PENDING">{texts.pending}</option>
          <option value="FAILED">{common.failed}</option>
        </Select>
        <Button onClick={again}>{common.refresh}</Button>
      </div>
      <Deliveries endpoint={node.sent} onRedelivered={again} />
    </Shown>
  );
}

interface ShownProps {
  readonly endpoint: webhookPage_endpoint$key;
  readonly onChanged: () => void;
  readonly children: ReactNode;
}

function Shown({ endpoint, onChanged, children }: ShownProps) {
  const { webhookEndpointId, url, eventTypes, failingSince, ...state } = useFragment(
    graphql`
      fragment webhookPage_endpoint on WebhookEndpoint {
        webhookEndpointId
        url
        eventTypes
        isEnabled
        disabledReason
        consecutiveFailures
        failingSince
      }
    `,
    endpoint,
  );
  const toasts = useToasts();
  const [isConfirming, setConfirming] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [test, isTesting] = useMutation<webhookPageTestMutation>(graphql`
    mutation webhookPageTestMutation($input: TestWebhookEndpointInput!) {
      testWebhookEndpoint(input: $input) {
        webhookDelivery {
          id
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [enable, isEnabling] = useMutation<webhookPageEnableMutation>(graphql`
    mutation webhookPageEnableMutation($input: EnableWebhookEndpointInput!) {
      enableWebhookEndpoint(input: $input) {
        webhookEndpoint {
          ...webhookPage_endpoint
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [disable, isDisabling] = useMutation<webhookPageDisableMutation>(graphql`
    mutation webhookPageDisableMutation($input: DisableWebhookEndpointInput!) {
      disableWebhookEndpoint(input: $input) {
        webhookEndpoint {
          ...webhookPage_endpoint
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [rotate, isRotating] = useMutation<webhookPageRotateMutation>(graphql`
    mutation webhookPageRotateMutation($input: RotateWebhookEndpointSecretInput!) {
      rotateWebhookEndpointSecret(input: $input) {
        secret
        userErrors {
          message
        }
      }
    }
  `);
  const input = { webhookEndpointId };
  const sendTest = async () => {
    const { errors } = await test({ input });
    if (errors !== null) return;
    toasts.say(texts.testEventQueued);
    onChanged();
  };
  const turn = async () => {
    const { errors } = await (state.isEnabled ? disable : enable)({ input });
    if (errors === null) toasts.say(state.isEnabled ? texts.webhookDisabled : texts.webhookEnabled);
  };
  const makeSecret = async () => {
    const { payload } = await rotate({ input });
    setConfirming(false);
    if (payload?.secret) setSecret(payload.secret);
  };
  return (
    <Page
      title={texts.webhook}
      actions={
        <>
          <Button size="small" isBusy={isEnabling || isDisabling} onClick={() => void turn()}>
            {state.isEnabled ? common.disable : common.enable}
          </Button>
          <Button size="small" icon="key" onClick={() => setConfirming(true)}>
            {texts.rotateSecret}
          </Button>
          <Button size="small" icon="send" isBusy={isTesting} onClick={() => void sendTest()}>
            {texts.sendTestEvent}
          </Button>
        </>
      }
    >
      <div className="sheets">
        <section className="card sheet" aria-label={texts.webhook}>
          <dl className="facts">
            <dt>{common.url}</dt>
            <dd>
              <code>{url}</code>
            </dd>
            <dt>{common.eventTypes}</dt>
            <dd>{eventTypes.map((type) => webhookEvents[type] ?? type).join(', ')}</dd>
            <dt>{common.status}</dt>
            <dd>
              <EndpointState {...state} />
              {failingSince && (
                <span className="soft">
                  {' '}
                  <RichText text={texts.since} slots={{ time: <Time at={failingSince} /> }} />
                </span>
              )}
            </dd>
          </dl>
        </section>
        <section aria-labelledby="deliveries">
          <h2 id="deliveries">{texts.deliveries}</h2>
          {children}
        </section>
        <p>
          <Link href="/manage/webhooks">{texts.allWebhooks}</Link>
        </p>
      </div>
      {isConfirming && (
        <Confirm
          title={texts.rotateTitle}
          text={texts.rotateText}
          confirmLabel={common.rotate}
          isBusy={isRotating}
          onClose={() => setConfirming(false)}
          onConfirm={() => void makeSecret()}
        />
      )}
      {secret && (
        <ShownOnce
          title={texts.webhookSecret}
          values={[{ label: common.secret, value: secret }]}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
