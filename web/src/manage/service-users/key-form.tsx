import { useState } from 'react';
import { graphql } from 'react-relay';
import type { keyFormMutation } from '../../__generated__/keyFormMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { keyForm as texts } from '../../texts/service-users.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';

interface KeyFormProps {
  /** The owner: a service user, the organization itself (v1), or the viewer. */
  readonly of: { readonly serviceUserId: string } | { readonly organizationId: string } | { readonly viewer: true };
  /** The Relay ids of the connections that get the new key. */
  readonly connections: readonly string[];
  /** Receives the token, which is shown once. */
  readonly onDone: (token: string) => void;
  readonly onClose: () => void;
}

function kindOf(of: KeyFormProps['of'], roleId: string) {
  if ('organizationId' in of) return { service: { scope: of, roleId } };
  return 'viewer' in of ? { personalAccessToken: {} } : { serviceUser: of };
}

/** Creates a key. */
export function KeyForm({ of, connections, onDone, onClose }: KeyFormProps) {
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<keyFormMutation>(
    graphql`
      mutation keyFormMutation($input: CreateApiKeyInput!, $connections: [ID!]!) {
        createApiKey(input: $input) {
          token
          apiKeyEdge @prependEdge(connections: $connections) {
            node {
              id
              ...keyTable_keys
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
  const isService = 'organizationId' in of;
  const title = 'viewer' in of ? texts.createToken : common.createKey;
  const submit = async (fields: FormFields) => {
    const day = fields.textOrNull('expiresAt');
    const { payload, errors: refused } = await create({
      input: {
        kind: kindOf(of, fields.text('roleId')),
        name: fields.text('name'),
        expiresAt: day && new Date(`${day}T23:59:59Z`).toISOString(),
      },
      connections,
    });
    setErrors(refused);
    if (refused !== null) return;
    onClose();
    if (payload.token) onDone(payload.token);
  };
  return (
    <FormDialog
      title={title}
      submitLabel={title}
      isBusy={isBusy}
      errors={errors}
      fieldNames={['name', 'roleId', 'expiresAt']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.name}
        name="name"
        required
        autoFocus
        placeholder={texts.namePlaceholder}
        error={errorOf(errors, 'name')}
      />
      {isService && <RoleSelect scope="ORGANIZATION" defaultValue="org_member" error={errorOf(errors, 'roleId')} />}
      <TextField
        label={common.expires}
        name="expiresAt"
        type="date"
        hint={texts.expiresHint}
        error={errorOf(errors, 'expiresAt')}
      />
    </FormDialog>
  );
}
