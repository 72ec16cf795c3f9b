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
import { LinkOption } from '../users/link-option.tsx';
import { NewSignInLink } from '../users/new-sign-in-link.tsx';
import { useAssign } from '../users/use-assign.ts';
import { useSignInLink } from '../users/use-sign-in-link.ts';

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
            userId
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
    const isWithLink = fields.isOn('isWithLink');
    const input = {
      scope: { organizationId },
      email: fields.text('email'),
      name: fields.textOrNull('name'),
      roleId: fields.text('roleId'),
    };
    const { scope, roleId } = input;
    const userId = await find(input.email).catch(() => null);
    const created = userId ? null : await create({ input });
    const { errors: refused } =
      created ?? (await assign({ input: { principal: { userId: userId ?? '' }, scope, roleId } }));
    setErrors(refused);
    if (refused !== null) return;
    const name = input.name ?? input.email;
    toasts.say(common.addedName({ name }));
    onDone();
    // A user who was there before may sign in already.
    const newId = created?.payload?.user?.userId;
    const url = isWithLink && newId !== undefined ? await createLink(newId) : null;
    if (url === null) onClose();
    else setLink({ name, url });
  };
  if (link !== null) return <NewSignInLink {...link} onClose={onClose} />;
  return (
    <FormDialog
      title={texts.addMember}
      submitLabel={texts.addMember}
      isBusy={isBusy || isAssigning || isLinking}
      errors={errors}
      fieldNames={['email', 'name', 'roleId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.email}
        name="email"
        type="email"
        required
        autoFocus
        hint={texts.emailHint}
        error={errorOf(errors, 'email')}
      />
      <TextField label={common.name} name="name" error={errorOf(errors, 'name')} />
      <RoleSelect scope="ORGANIZATION" defaultValue="org_member" error={errorOf(errors, 'roleId')} />
      <LinkOption />
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
