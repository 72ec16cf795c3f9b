import { madeWebhook as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { asCurl } from '../../ui/copy.ts';
import { ShownOnce } from '../kit/kit.ts';

/** A new incoming webhook with its secret. */
export interface MadeWebhook {
  readonly secret: string;
  readonly address: string;
}

/** The webhook to show after a mutation; null if no secret was created. */
export function madeWebhook(
  secret: string | null | undefined,
  triggers: readonly { readonly webhookUrl?: string | undefined }[],
): MadeWebhook | null {
  const address = triggers.find(({ webhookUrl }) => webhookUrl)?.webhookUrl;
  return secret && address ? { secret, address } : null;
}

/** Shows the secret once, with everything else that is needed to call the webhook. */
export function WebhookSecret({ made, onClose }: { readonly made: MadeWebhook; readonly onClose: () => void }) {
  const { secret, address } = made;
  return (
    <ShownOnce
      title={texts.incomingWebhookSecret}
      values={[
        { label: common.secret, value: secret },
        { label: common.url, value: address },
      ]}
      curl={asCurl(address, `X-Webhook-Secret: ${secret}`, {})}
      onClose={onClose}
    />
  );
}
