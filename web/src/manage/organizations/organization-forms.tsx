import { type ReactNode, Suspense, useState } from 'react';
import { graphql } from 'react-relay';
import type { organizationFormsCreateMutation } from '../../__generated__/organizationFormsCreateMutation.graphql.ts';
import type { organizationFormsUpdateMutation } from '../../__generated__/organizationFormsUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { organizationForms as texts } from '../../texts/organizations.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { PermissionNotice } from './permission-notice.tsx';

interface OrganizationFields {
  readonly name: string;
  readonly maxCycleAcuLimit: number | null | undefined;
  readonly maxSessionAcuLimit: number | null | undefined;
}

const fieldNames = ['name', 'maxCycleAcuLimit', 'maxSessionAcuLimit'];

const inputOf = (fields: FormFields) => ({
  name: fields.text('name'),
  maxCycleAcuLimit: fields.number('maxCycleAcuLimit'),
  maxSessionAcuLimit: fields.number('maxSessionAcuLimit'),
});

interface NewOrganizationProps {
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Creates an organization. */
export function NewOrganization({ connections, onClose }: NewOrganizationProps) {
  const { reload } = useSigned();
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<organizationFormsCreateMutation>(
    graphql`
      mutation organizationFormsCreateMutation($input: CreateOrganizationInput!, $connections: [ID!]!) {
        createOrganization(input: $input) {
          organizationEdge @prependEdge(connections: $connections) {
            node {
              id
              organizationId
              name
              createdAt
              maxCycleAcuLimit
              maxSessionAcuLimit
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
  const submit = async (fields: FormFields) => {
    const input = inputOf(fields);
    const { errors: refused } = await create({ input, connections });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.createdName({ name: input.name }));
    reload();
    onClose();
  };
  return (
    <OrganizationForm
      title={texts.newOrganization}
      submitLabel={texts.create}
      isBusy={isBusy}
      errors={errors}
      onClose={onClose}
      onSubmit={submit}
    >
      <Suspense fallback={null}>
        <PermissionNotice />
      </Suspense>
    </OrganizationForm>
  );
}

interface ChangeOrganizationProps {
  readonly organization: OrganizationFields & { readonly organizationId: string };
  readonly onClose: () => void;
}

/** Renames an organization or changes its limits. */
export function ChangeOrganization({ organization, onClose }: ChangeOrganizationProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<organizationFormsUpdateMutation>(
    graphql`
      mutation organizationFormsUpdateMutation($input: UpdateOrganizationInput!) {
        updateOrganization(input: $input) {
          organization {
            id
            name
            maxCycleAcuLimit
            maxSessionAcuLimit
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
    const input = inputOf(fields);
    const { errors: refused } = await update({ input: { ...input, organizationId: organization.organizationId } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.savedName({ name: input.name }));
    onClose();
  };
  return (
    <OrganizationForm
      title={common.editName({ name: organization.name })}
      submitLabel={common.save}
      organization={organization}
      isBusy={isBusy}
      errors={errors}
      onClose={onClose}
      onSubmit={submit}
    />
  );
}

interface OrganizationFormProps {
  readonly title: string;
  readonly submitLabel: string;
  readonly organization?: OrganizationFields;
  readonly isBusy: boolean;
  readonly errors: readonly FormProblem[] | null;
  /** Shown below the fields. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
  readonly onSubmit: (fields: FormFields) => Promise<void>;
}

function OrganizationForm(props: OrganizationFormProps) {
  const { title, submitLabel, organization, isBusy, errors, children, onClose, onSubmit } = props;
  return (
    <FormDialog
      {...{ title, submitLabel }}
      isBusy={isBusy}
      errors={errors}
      fieldNames={fieldNames}
      onClose={onClose}
      onSubmit={(fields) => void onSubmit(fields)}
    >
      <TextField
        label={common.name}
        name="name"
        required
        autoFocus
        defaultValue={organization?.name}
        error={errorOf(errors, 'name')}
      />
      <TextField
        label={common.monthlyAcuLimit}
        name="maxCycleAcuLimit"
        type="number"
        min={0}
        placeholder={common.noLimit}
        defaultValue={organization?.maxCycleAcuLimit ?? ''}
        error={errorOf(errors, 'maxCycleAcuLimit')}
      />
      <TextField
        label={common.sessionAcuLimit}
        name="maxSessionAcuLimit"
        type="number"
        min={0}
        placeholder={common.noLimit}
        defaultValue={organization?.maxSessionAcuLimit ?? ''}
        error={errorOf(errors, 'maxSessionAcuLimit')}
      />
      {children}
    </FormDialog>
  );
}
