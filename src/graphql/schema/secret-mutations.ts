import { DomainError, refuse } from '../../domain/errors.ts';
import { globalId } from '../../domain/ids.ts';
import { createSecret, deleteSecret, type SecretChange, updateSecret } from '../../domain/secrets/change-secrets.ts';
import type { SecretRecord } from '../../domain/secrets/secrets.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { SecretTypeEnum } from './enums.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { organizationIdDescription } from './places.ts';
import { Secret } from './secrets.ts';

const secretDescriptions = {
  secretId: 'The secret: its global ID, or any form of its id.',
  key: 'Its name: 1 to 256 characters, and no other secret of the organization has it. That of a KEY_VALUE is an environment variable’s.',
  value: 'Its value: 1 to 65,536 characters. It is never given back.',
  note: 'What to note of it: at most 2,000 characters.',
  isSensitive: 'Whether its value is blotted out of what agents say.',
} as const;

const CreateSecretInput = builder.inputType('CreateSecretInput', {
  description: 'What a secret is made from.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    key: t.string({ required: true, description: secretDescriptions.key }),
    type: t.field({ type: SecretTypeEnum, required: true, description: 'What it is for. It cannot be changed.' }),
    value: t.string({ required: true, description: secretDescriptions.value }),
    note: t.string({ description: secretDescriptions.note }),
    isSensitive: t.boolean({ defaultValue: true, description: secretDescriptions.isSensitive }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateSecretPayload = payloadType<{ secret: SecretRecord }>(
  'CreateSecretPayload',
  'A secret that was made.',
  (t) => ({ secret: t.expose('secret', { type: Secret, nullable: true, description: 'The secret.' }) }),
);

const UpdateSecretInput = builder.inputType('UpdateSecretInput', {
  description: 'How a secret is to change: what is left out stays, its value too.',
  fields: (t) => ({
    secretId: t.id({ required: true, description: secretDescriptions.secretId }),
    key: t.string({ description: `${secretDescriptions.key} Not null.` }),
    value: t.string({ description: `${secretDescriptions.value} Not null.` }),
    note: t.string({ description: `${secretDescriptions.note} Null: nothing.` }),
    isSensitive: t.boolean({ description: secretDescriptions.isSensitive }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateSecretPayload = payloadType<{ secret: SecretRecord }>(
  'UpdateSecretPayload',
  'A secret that was changed.',
  (t) => ({ secret: t.expose('secret', { type: Secret, nullable: true, description: 'The secret.' }) }),
);

const DeleteSecretInput = builder.inputType('DeleteSecretInput', {
  description: 'Which secret is to be deleted.',
  fields: (t) => ({
    secretId: t.id({ required: true, description: secretDescriptions.secretId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteSecretPayload = payloadType<{ deletedSecretId: string }>(
  'DeleteSecretPayload',
  'A secret that was deleted.',
  (t) => ({
    deletedSecretId: t.expose('deletedSecretId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

// The domain has the wire's words for it, which name neither.
function sayTaken(error: unknown, key: string | null | undefined): never {
  if (!(error instanceof DomainError && error.code === 'NOT_UNIQUE')) throw error;
  const said = `"key" must be one that no other secret of the organization has, but ${JSON.stringify(key)} is taken.`;
  throw refuse(['key'], said, 'NOT_UNIQUE');
}

addMutation('createSecret', {
  input: CreateSecretInput,
  payload: CreateSecretPayload,
  needs: ['changeSecrets'],
  description: 'Makes a secret: sessions that start from now on have it.',
  act: async (input, context, info) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, ...secret } = input;
    return {
      secret: await createSecret(context.domain, secret, organizationId, {
        idempotencyKey: idempotencyKeyOf(context, input, info),
      }).catch((error) => sayTaken(error, secret.key)),
    };
  },
});

addMutation('updateSecret', {
  input: UpdateSecretInput,
  payload: UpdateSecretPayload,
  needs: ['changeSecrets'],
  description: 'Changes a secret: agents at work keep what they were given.',
  act: async (input, { domain }) => {
    const { secretId, clientMutationId: _mutation, ...change } = input;
    const updated = updateSecret(domain, secretId, change as SecretChange);
    return { secret: await updated.catch((error) => sayTaken(error, change.key)) };
  },
});

addMutation('deleteSecret', {
  input: DeleteSecretInput,
  payload: DeleteSecretPayload,
  needs: ['changeSecrets'],
  description: 'Deletes a secret: agents at work keep it until they end.',
  act: async (input, { domain }) => {
    const { id } = await deleteSecret(domain, { secretId: input.secretId }, input);
    return { deletedSecretId: globalId('secret', id) };
  },
});
