import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { webhooksDialog_connection$key } from '../../__generated__/webhooksDialog_connection.graphql.ts';
import type { webhooksDialogRotateMutation } from '../../__generated__/webhooksDialogRotateMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { common } from '../../texts/common.ts';
import { webhooksDialog as texts } from '../../texts/git.ts';
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
        title={texts.secretTitle({ name })}
        values={[
          ...(webhookUrl == null ? [] : [{ label: texts.address, value: webhookUrl }]),
          { label: common.secret, value: secret },
        ]}
        onClose={() => setSecret(null)}
      />
    );
  }
  const failures = [
    { label: texts.lastRefusedWebhook, failure: found.lastWebhookRefusal },
    { label: texts.lastUnreadable, failure: found.lastWebhookFailure },
  ];
  const isOnLoopback = webhookUrl != null && URL.canParse(webhookUrl) && isLoopback(new URL(webhookUrl).hostname);
  return (
    <Dialog
      title={texts.title({ name })}
      onClose={onClose}
      actions={
        <>
          <Button icon="key" isBusy={isBusy} onClick={() => (hasWebhookSecret ? setAsking(true) : void create())}>
            {hasWebhookSecret ? texts.replaceSecret : texts.createSecret}
          </Button>
          <Button tone="primary" onClick={onClose}>
            {texts.done}
          </Button>
        </>
      }
    >
      <div className="form">
        <p className="git-help">{texts.intro}</p>
        {webhookUrl != null && <CopyLine label={texts.address} value={webhookUrl} />}
        {isOnLoopback && <p className="git-warning">{texts.notReachable}</p>}
        {isForgeKind(providerType) && <p className="git-help">{forgeKinds[providerType].webhookHelp}</p>}
        <dl className="facts">
          <dt>{common.secret}</dt>
          <dd>{hasWebhookSecret ? texts.stored : texts.noSecret}</dd>
          <dt>{texts.lastWebhook}</dt>
          <dd>{lastWebhookAt == null ? texts.noneLastWeek : <Time at={lastWebhookAt} />}</dd>
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
          title={texts.replaceTitle}
          text={texts.replaceText}
          confirmLabel={texts.replace}
          isBusy={isBusy}
          onConfirm={() => void create()}
          onClose={() => setAsking(false)}
        />
      )}
    </Dialog>
  );
}
