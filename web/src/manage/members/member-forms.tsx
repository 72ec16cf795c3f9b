import { useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { memberFormsCreateMutation } from '../../__generated__/memberFormsCreateMutation.graphql.ts';
import type { memberFormsFindQuery } from '../../__generated__/memberFormsFindQuery.graphql.ts';
import type { memberFormsNameMutation } from '../../__generated__/memberFormsNameMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { memberForms as texts } from '../../texts/members.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';
import { useAssign } from '../users/use-assign.ts';

interface NewMemberProps {
  readonly organizationId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Adds a member: a new user, or an existing user of the enterprise. */
export function NewMember({ organizationId, onClose, onDone }: NewMemberProps) {
  const environment = useRelayEnvironment();
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [assign, isAssigning] = useAssign();
  const find = async (email: string) => {
    const query = graphql`
      query memberFormsFindQuery($email: String!) @throwOnFieldError {
        enterprise {
          users(first: 1, filter: {email: $email}) {
            nodes {
              userId
            }
          }
        }
      }
    `;
    const options = { networkCacheConfig: { force: true } };
    const found = await fetchQuery<memberFormsFindQuery>(environment, query, { email }, options).toPromise();
    return found?.enterprise?.users.nodes[0]?.userId ?? null;
  };
  const [create, isBusy] = useMutation<memberFormsCreateMutation>(
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
  const submit = async (fields: FormFields) => {
    const input = {
      scope: { organizationId },
      email: fields.text('email'),
      name: fields.textOrNull('name'),
      roleId: fields.text('roleId'),
    };
    const { scope, roleId } = input;
    const userId = await find(input.email).catch(() => null);
    const { errors: refused } = userId
      ? await assign({ input: { principal: { userId }, scope, roleId } })
      : await create({ input });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.addedName({ name: input.name ?? input.email }));
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={texts.addMember}
      submitLabel={common.add}
      isBusy={isBusy || isAssigning}
      errors={errors}
      fieldNames={['email', 'name', 'roleId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField label={common.email} name="email" type="email" required autoFocus error={errorOf(errors, 'email')} />
      <TextField label={common.name} name="name" error={errorOf(errors, 'name')} />
      <RoleSelect scope="ORGANIZATION" defaultValue="org_member" error={errorOf(errors, 'roleId')} />
    </FormDialog>
  );
}

interface ChangeMemberProps extends NewMemberProps {
  readonly userId: string;
  readonly name: string;
  readonly roleId: string;
}

/** Changes a member's name or role. */
export function ChangeMember({ organizationId, userId, name, roleId, onClose, onDone }: ChangeMemberProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [assign, isAssigning] = useAssign();
  const [rename, isRenaming] = useMutation<memberFormsNameMutation>(
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
  const submit = async (fields: FormFields) => {
    const wanted = fields.text('name');
    if (wanted !== name) {
      const { errors: refused } = await rename({ input: { userId, name: wanted || null } });
      setErrors(refused);
      if (refused !== null) return;
    }
    const role = fields.text('roleId');
    if (role !== roleId) {
      const { errors: refused } = await assign({
        input: { principal: { userId }, scope: { organizationId }, roleId: role },
      });
      setErrors(refused);
      if (refused !== null) return;
    }
    toasts.say(texts.memberSaved);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={texts.editMember}
      submitLabel={common.save}
      isBusy={isAssigning || isRenaming}
      errors={errors}
      fieldNames={['name', 'roleId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField label={common.name} name="name" autoFocus defaultValue={name} error={errorOf(errors, 'name')} />
      <RoleSelect scope="ORGANIZATION" defaultValue={roleId} error={errorOf(errors, 'roleId')} />
    </FormDialog>
  );
}
