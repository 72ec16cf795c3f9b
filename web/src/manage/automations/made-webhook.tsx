import { asCurl } from '../../ui/copy.ts';
import { ShownOnce } from '../kit/kit.ts';

/** An incoming webhook whose secret was made just now. */
export interface MadeWebhook {
  readonly secret: string;
  readonly address: string;
}

/** What is to be shown of an automation that was given a secret; null where it was given none. */
export function madeWebhook(
  secret: string | null | undefined,
  triggers: readonly { readonly webhookUrl?: string | undefined }[],
): MadeWebhook | null {
  const address = triggers.find(({ webhookUrl }) => webhookUrl)?.webhookUrl;
  return secret && address ? { secret, address } : null;
}

/** The secret, once, with all else that is needed to post with it. */
export function WebhookSecret({ made, onClose }: { readonly made: MadeWebhook; readonly onClose: () => void }) {
  const { secret, address } = made;
  return (
    <ShownOnce
      title="The secret of the incoming webhook"
      values={[
        { label: 'Secret', value: secret },
        { label: 'Address', value: address },
      ]}
      curl={asCurl(address, `X-Webhook-Secret: ${secret}`, {})}
      onClose={onClose}
    />
  );
}
