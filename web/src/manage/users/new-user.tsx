import { useState } from 'react';
import { graphql } from 'react-relay';
import type { newUserMutation } from '../../__generated__/newUserMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { newUser as texts } from '../../texts/users.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';
import { scopeOf } from '../kit/scope-input.ts';
import { LinkOption } from './link-option.tsx';
import { NewSignInLink } from './new-sign-in-link.tsx';
import { OrganizationPicker } from './organization-picker.tsx';
import { useSignInLink } from './use-sign-in-link.ts';

interface NewUserProps {
  /** The Relay ids of the connections that get the new user. */
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Creates a user with a first role: in an organization or on the enterprise. */
export function NewUser({ connections, onClose }: NewUserProps) {
  const { organization } = useSigned();
  const toasts = useToasts();
  const [organizationId, setOrganizationId] = useState(organization?.organizationId ?? '');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<newUserMutation>(
    graphql`
      mutation newUserMutation($input: CreateUserInput!, $connections: [ID!]!) {
        createUser(input: $input) {
          userEdge @prependEdge(connections: $connections) {
            node {
              id
              userId
              name
              email
              deactivatedAt
              createdAt
              roleAssignments(first: 5) {
                nodes {
                  organizationId
                  organization {
                    id
                    name
                  }
                  role {
                    id
                    name
                  }
                }
                pageInfo {
                  hasNextPage
                }
              }
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
  const [link, setLink] = useState<{ readonly name: string; readonly url: string } | null>(null);
  const [createLink, isLinking] = useSignInLink();
  const submit = async (fields: FormFields) => {
    const input = { email: fields.text('email'), name: fields.textOrNull('name'), roleId: fields.text('roleId') };
    const isWithLink = fields.isOn('isWithLink');
    const { payload, errors: refused } = await create({
      input: { ...input, scope: scopeOf(organizationId === '' ? null : organizationId) },
      connections,
    });
    setErrors(refused);
    if (refused !== null) return;
    const name = input.name ?? input.email;
    toasts.say(common.addedName({ name }));
    const userId = payload.userEdge?.node.userId;
    const url = isWithLink && userId !== undefined ? await createLink(userId) : null;
    if (url === null) onClose();
    else setLink({ name, url });
  };
  if (link !== null) return <NewSignInLink {...link} onClose={onClose} />;
  return (
    <FormDialog
      title={texts.newUser}
      submitLabel={texts.create}
      isBusy={isBusy || isLinking}
      errors={errors}
      fieldNames={['email', 'name', 'organizationId', 'roleId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField label={common.email} name="email" type="email" required autoFocus error={errorOf(errors, 'email')} />
      <TextField label={common.name} name="name" error={errorOf(errors, 'name')} />
      <OrganizationPicker
        none={texts.noneEnterpriseRole}
        value={organizationId}
        valueLabel={organizationId === organization?.organizationId ? organization.name : undefined}
        error={errorOf(errors, 'organizationId')}
        onChange={setOrganizationId}
      />
      <RoleSelect
        key={organizationId === '' ? 'enterprise' : 'organization'}
        scope={organizationId === '' ? 'ENTERPRISE' : 'ORGANIZATION'}
        defaultValue={organizationId === '' ? 'account_member' : 'org_member'}
        error={errorOf(errors, 'roleId')}
      />
      <LinkOption />
    </FormDialog>
  );
}
