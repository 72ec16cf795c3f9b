import { useState } from 'react';
import { graphql } from 'react-relay';
import type {
  WebhookEventType,
  webhookFormCreateMutation,
} from '../../__generated__/webhookFormCreateMutation.graphql.ts';
import type { webhookFormUpdateMutation } from '../../__generated__/webhookFormUpdateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { webhookForm as texts } from '../../texts/webhooks.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { webhookEvents } from './webhook-events.ts';

interface WebhookFormProps {
  readonly organizationId: string;
  /** The webhook to change; null: a new one. */
  readonly endpoint: {
    readonly webhookEndpointId: string;
    readonly url: string;
    readonly description: string | null | undefined;
    readonly eventTypes: readonly string[];
  } | null;
  readonly connections: readonly string[];
  /** Receives the secret of a new one, which is shown once. */
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

/** Creates or changes a webhook. */
export function WebhookForm({ organizationId, endpoint, connections, onSecret, onClose }: WebhookFormProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useMutation<webhookFormCreateMutation>(
    graphql`
      mutation webhookFormCreateMutation($input: CreateWebhookEndpointInput!, $connections: [ID!]!) {
        createWebhookEndpoint(input: $input) {
          secret
          webhookEndpointEdge @prependEdge(connections: $connections) {
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
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const [update, isUpdating] = useMutation<webhookFormUpdateMutation>(
    graphql`
      mutation webhookFormUpdateMutation($input: UpdateWebhookEndpointInput!) {
        updateWebhookEndpoint(input: $input) {
          webhookEndpoint {
            id
            url
            description
            eventTypes
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async (fields: FormFields) => {
    const input = {
      url: fields.text('url'),
      description: fields.textOrNull('description'),
      eventTypes: fields.all('eventTypes') as WebhookEventType[],
    };
    if (endpoint) {
      const { errors: refused } = await update({ input: { ...input, webhookEndpointId: endpoint.webhookEndpointId } });
      setErrors(refused);
      if (refused !== null) return;
    } else {
      const { payload, errors: refused } = await create({
        input: { ...input, organizationId, isEnabled: fields.isOn('isEnabled') },
        connections,
      });
      setErrors(refused);
      if (refused !== null) return;
      if (payload.secret) onSecret(payload.secret);
    }
    toasts.say(texts.webhookSaved);
    onClose();
  };
  const hears = (type: string) => endpoint === null || endpoint.eventTypes.includes(type);
  return (
    <FormDialog
      title={endpoint ? texts.editWebhook : texts.newWebhook}
      submitLabel={endpoint ? common.save : texts.create}
      isBusy={isCreating || isUpdating}
      errors={errors}
      fieldNames={['url', 'description']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.url}
        name="url"
        type="url"
        required
        autoFocus
        placeholder={texts.urlExample}
        defaultValue={endpoint?.url}
        error={errorOf(errors, 'url')}
      />
      <TextField
        label={common.description}
        name="description"
        defaultValue={endpoint?.description ?? ''}
        error={errorOf(errors, 'description')}
      />
      <fieldset className="boxes">
        <legend>{common.eventTypes}</legend>
        {Object.entries(webhookEvents).map(([type, label]) => (
          <label key={type} className="check">
            <input type="checkbox" name="eventTypes" value={type} defaultChecked={hears(type)} />
            {label}
          </label>
        ))}
      </fieldset>
      {endpoint === null && (
        <label className="check">
          <input type="checkbox" name="isEnabled" defaultChecked /> {common.enabled}
        </label>
      )}
    </FormDialog>
  );
}
