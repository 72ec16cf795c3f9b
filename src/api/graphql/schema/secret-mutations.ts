import { DomainError, refuse } from '../../../common/errors.ts';
import { globalId } from '../../../domain/ids.ts';
import {
  createSecret,
  deleteSecret,
  type SecretChange,
  updateSecret,
} from '../../../domain/library/secrets/change-secrets.ts';
import { addMutation } from './add-mutation.ts';
import { SecretTypeEnum } from './enums.ts';
import { refuseNulls } from './payloads.ts';
import { organizationIdDescription } from './scope-input.ts';
import { Secret } from './secrets.ts';

const secretDescriptions = {
  secretId: 'Global ID or REST id of the secret.',
  key: 'Name of the secret, 1 to 256 characters, unique in the organization. The key of a KEY_VALUE secret is the name of an environment variable.',
  value: 'Value of the secret, 1 to 65,536 characters. The value is never returned.',
  note: 'Note about the secret. Maximum 2,000 characters.',
  isSensitive: 'Whether the value is masked in everything that agents write.',
} as const;

// The domain's message uses REST names and mentions neither member.
function refuseTakenKey(error: unknown, key: string | null | undefined): never {
  if (!(error instanceof DomainError && error.code === 'NOT_UNIQUE')) throw error;
  const message = `"key" must be one that no other secret of the organization has, but ${JSON.stringify(key)} is taken.`;
  throw refuse(['key'], message, 'NOT_UNIQUE');
}

/** The payload of createSecret. */
export const CreateSecretPayload = addMutation('createSecret', {
  description: 'Creates a secret of an organization. Sessions that start from now on have the secret.',
  needs: ['changeSecrets'],
  input: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    key: t.string({ required: true, description: secretDescriptions.key }),
    type: t.field({
      type: SecretTypeEnum,
      required: true,
      description: 'Type of the secret. The type cannot be changed later.',
    }),
    value: t.string({ required: true, description: secretDescriptions.value }),
    note: t.string({ description: secretDescriptions.note }),
    isSensitive: t.boolean({ defaultValue: true, description: secretDescriptions.isSensitive }),
  }),
  takes: 'idempotencyKey',
  payload: { secret: Secret },
  act: async ({ organizationId, ...secret }, { domain }, options) => ({
    secret: await createSecret(domain, secret, organizationId, options).catch((error) =>
      refuseTakenKey(error, secret.key),
    ),
  }),
});

addMutation('updateSecret', {
  description: 'Updates a secret. Agents that are running keep the previous value until they end.',
  needs: ['changeSecrets'],
  input: (t) => ({
    secretId: t.id({ required: true, description: secretDescriptions.secretId }),
    key: t.string({ description: `${secretDescriptions.key} Must not be null.` }),
    value: t.string({ description: `${secretDescriptions.value} Must not be null.` }),
    note: t.string({ description: `${secretDescriptions.note} Null removes the note.` }),
    isSensitive: t.boolean({ description: `${secretDescriptions.isSensitive} Must not be null.` }),
  }),
  takes: 'expectedVersion',
  payload: { secret: Secret },
  act: async (input, { domain }) => {
    const { secretId, ...change } = input;
    refuseNulls(change, ['isSensitive']);
    const updated = updateSecret(domain, secretId, change as SecretChange);
    return { secret: await updated.catch((error) => refuseTakenKey(error, change.key)) };
  },
});

addMutation('deleteSecret', {
  description: 'Deletes a secret. Agents that are running keep the secret until they end.',
  needs: ['changeSecrets'],
  input: (t) => ({ secretId: t.id({ required: true, description: secretDescriptions.secretId }) }),
  takes: 'expectedVersion',
  payload: { deletedSecretId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteSecret(domain, { secretId: input.secretId }, input);
    return { deletedSecretId: globalId('secret', id) };
  },
});
