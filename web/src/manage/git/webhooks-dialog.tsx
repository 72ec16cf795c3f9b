import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { webhooksDialog_connection$key } from '../../__generated__/webhooksDialog_connection.graphql.ts';
import type { webhooksDialogRotateMutation } from '../../__generated__/webhooksDialogRotateMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { CopyLine, FormErrors, type FormProblem, ShownOnce } from '../kit/kit.ts';
import { forgeKinds, isForgeKind } from './forge-kinds.ts';
import { isLoopback } from './loopback.ts';

interface WebhooksDialogProps {
  readonly connection: webhooksDialog_connection$key;
  /** Called when the secret has changed. */
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** Shows how to set up the webhooks of a connection, creates their secret, and tells if they arrive. */
export function WebhooksDialog({ connection, onChanged, onClose }: WebhooksDialogProps) {
  const found = useFragment(
    graphql`
      fragment webhooksDialog_connection on GitConnection {
        gitConnectionId
        providerType
        name
        webhookUrl
        hasWebhookSecret
        lastWebhookAt
        lastWebhookFailure {
          at
          message
        }
        lastWebhookRefusal {
          at
          message
        }
      }
    `,
    connection,
  );
  const { gitConnectionId, providerType, name, webhookUrl, hasWebhookSecret, lastWebhookAt } = found;
  const [isAsking, setAsking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [rotate, isBusy] = useSecretMutation<webhooksDialogRotateMutation>(graphql`
    mutation webhooksDialogRotateMutation($input: RotateGitConnectionWebhookSecretInput!) {
      rotateGitConnectionWebhookSecret(input: $input) {
        webhookSecret
        userErrors {
          message
        }
      }
    }
  `);
  const create = async () => {
    const { payload, errors: refused } = await rotate({ input: { gitConnectionId } });
    setAsking(false);
    setErrors(refused);
    if (payload?.webhookSecret != null) setSecret(payload.webhookSecret);
    onChanged();
  };
  if (secret !== null) {
    return (
      <ShownOnce
        title={`Webhook secret of ${name}`}
        values={[
          ...(webhookUrl == null ? [] : [{ label: 'Address', value: webhookUrl }]),
          { label: 'Secret', value: secret },
        ]}
        onClose={() => setSecret(null)}
      />
    );
  }
  const failures = [
    { label: 'Last refused webhook', failure: found.lastWebhookRefusal },
    { label: 'Last webhook that could not be read', failure: found.lastWebhookFailure },
  ];
  const isOnLoopback = webhookUrl != null && URL.canParse(webhookUrl) && isLoopback(new URL(webhookUrl).hostname);
  return (
    <Dialog
      title={`Webhooks of ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button icon="key" isBusy={isBusy} onClick={() => (hasWebhookSecret ? setAsking(true) : void create())}>
            {hasWebhookSecret ? 'Replace the secret' : 'Create a secret'}
          </Button>
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="form">
        <p className="git-help">
          With webhooks, the forge reports at once that a pull request has changed. Without them, the service reads open
          pull requests about once a minute. Mentions, and automations that react to events of repositories, need
          webhooks.
        </p>
        {webhookUrl != null && <CopyLine label="Address" value={webhookUrl} />}
        {isOnLoopback && <p className="git-warning">The forge must be able to reach this address. Set BASE_URL.</p>}
        {isForgeKind(providerType) && <p className="git-help">{forgeKinds[providerType].webhookHelp}</p>}
        <dl className="facts">
          <dt>Secret</dt>
          <dd>{hasWebhookSecret ? 'Stored' : 'None: every webhook is refused'}</dd>
          <dt>Last webhook</dt>
          <dd>{lastWebhookAt == null ? 'None in the last week' : <Time at={lastWebhookAt} />}</dd>
        </dl>
        {failures.map(
          ({ label, failure }) =>
            failure != null && (
              <p className="git-warning" key={label}>
                {label} (<Time at={failure.at} />
                ): {visible(failure.message)}
              </p>
            ),
        )}
        <FormErrors errors={errors} />
      </div>
      {isAsking && (
        <Confirm
          title="Replace the secret?"
          text="Webhooks with the previous secret are refused at once, until you enter the new one at the forge."
          confirmLabel="Replace"
          isBusy={isBusy}
          onConfirm={() => void create()}
          onClose={() => setAsking(false)}
        />
      )}
    </Dialog>
  );
}
