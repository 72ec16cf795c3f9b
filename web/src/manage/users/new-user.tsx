import { useState } from 'react';
import { graphql } from 'react-relay';
import type { newUserMutation } from '../../__generated__/newUserMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormProblem, type Given } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';
import { scopeOf } from '../kit/whose.ts';
import { OrganizationPicker } from './organization-picker.tsx';

interface NewUserProps {
  /** The lists, by Relay's ids, that the new one belongs into. */
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Makes a user with its first role: in an organization, or on the enterprise. */
export function NewUser({ connections, onClose }: NewUserProps) {
  const { organization } = useSigned();
  const toasts = useToasts();
  const [place, setPlace] = useState(organization?.organizationId ?? '');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useAct<newUserMutation>(
    graphql`
      mutation newUserMutation($input: CreateUserInput!, $connections: [ID!]!) {
        createUser(input: $input) {
          userEdge @prependEdge(connections: $connections) {
            node {
              id
              name
              email
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
  const submit = async (given: Given) => {
    const input = { email: given.text('email'), name: given.word('name'), roleId: given.text('roleId') };
    const { errors: refused } = await create({
      input: { ...input, scope: scopeOf(place === '' ? null : place) },
      connections,
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${input.name ?? input.email} is a user.`);
    onClose();
  };
  return (
    <FormDialog
      title="New user"
      act="Add"
      isBusy={isBusy}
      errors={errors}
      placed={['email', 'name', 'organizationId', 'roleId']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      <TextField label="E-mail" name="email" type="email" required autoFocus error={errorOf(errors, 'email')} />
      <TextField label="Name" name="name" error={errorOf(errors, 'name')} />
      <OrganizationPicker
        none="None: a role on the enterprise"
        value={place}
        valueLabel={place === organization?.organizationId ? organization.name : undefined}
        error={errorOf(errors, 'organizationId')}
        onChange={setPlace}
      />
      <RoleSelect
        key={place === '' ? 'enterprise' : 'organization'}
        scope={place === '' ? 'ENTERPRISE' : 'ORGANIZATION'}
        defaultValue={place === '' ? 'account_member' : 'org_member'}
        error={errorOf(errors, 'roleId')}
      />
    </FormDialog>
  );
}
