import { useState } from 'react';
import { graphql } from 'react-relay';
import type { memberFormsAssignMutation } from '../../__generated__/memberFormsAssignMutation.graphql.ts';
import type { memberFormsCreateMutation } from '../../__generated__/memberFormsCreateMutation.graphql.ts';
import type { memberFormsNameMutation } from '../../__generated__/memberFormsNameMutation.graphql.ts';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormProblem, type Given } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';

interface NewMemberProps {
  readonly organizationId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Adds somebody who has no account yet. */
export function NewMember({ organizationId, onClose, onDone }: NewMemberProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useAct<memberFormsCreateMutation>(
    graphql`
      mutation memberFormsCreateMutation($input: CreateUserInput!) {
        createUser(input: $input) {
          user {
            id
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
    const input = {
      organizationId,
      email: given.text('email'),
      name: given.word('name'),
      roleId: given.word('roleId'),
    };
    const { errors: refused } = await create({ input });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${input.name ?? input.email} is a member.`);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title="Add somebody"
      act="Add"
      isBusy={isBusy}
      errors={errors}
      placed={['email', 'name', 'roleId']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      <TextField label="Address" name="email" type="email" required autoFocus error={errorOf(errors, 'email')} />
      <TextField label="Name" name="name" error={errorOf(errors, 'name')} />
      <RoleSelect scope="ORGANIZATION" defaultValue="org_member" error={errorOf(errors, 'roleId')} />
    </FormDialog>
  );
}

interface ChangeMemberProps extends NewMemberProps {
  readonly userId: string;
  readonly name: string;
  readonly roleId: string;
}

/** Gives a member another name or role. */
export function ChangeMember({ organizationId, userId, name, roleId, onClose, onDone }: ChangeMemberProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [assign, isAssigning] = useAct<memberFormsAssignMutation>(
    graphql`
      mutation memberFormsAssignMutation($input: AssignRoleInput!) {
        assignRole(input: $input) {
          user {
            id
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
  const [rename, isRenaming] = useAct<memberFormsNameMutation>(
    graphql`
      mutation memberFormsNameMutation($input: UpdateUserInput!) {
        updateUser(input: $input) {
          user {
            id
            name
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
    const wanted = given.text('name');
    if (wanted !== name) {
      const { errors: refused } = await rename({ input: { userId, name: wanted || null } });
      setErrors(refused);
      if (refused !== null) return;
    }
    const role = given.text('roleId');
    if (role !== roleId) {
      const { errors: refused } = await assign({ input: { userId, organizationId, roleId: role } });
      setErrors(refused);
      if (refused !== null) return;
    }
    toasts.say('The member is changed.');
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title="Change the member"
      act="Save"
      isBusy={isAssigning || isRenaming}
      errors={errors}
      placed={['name', 'roleId']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      <TextField label="Name" name="name" autoFocus defaultValue={name} error={errorOf(errors, 'name')} />
      <RoleSelect scope="ORGANIZATION" defaultValue={roleId} error={errorOf(errors, 'roleId')} />
    </FormDialog>
  );
}
