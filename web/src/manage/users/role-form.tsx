import { useState } from 'react';
import { common } from '../../texts/common.ts';
import { roleForm as texts } from '../../texts/users.ts';
import { errorOf } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';
import { OrganizationPicker } from './organization-picker.tsx';

/** A scope in which a user or group has a role or gets one; null: the enterprise. */
export interface RoleAssignment {
  readonly organizationId: string | null;
  readonly roleId: string;
}

/** Sets the only role in a scope; resolves to its errors, null for none. */
export type Assign = (organizationId: string | null, roleId: string) => Promise<readonly FormProblem[] | null>;

interface RoleFormProps {
  readonly assign: Assign;
  readonly isBusy: boolean;
  /** The scope of the role; null: an organization selected here. */
  readonly assignment: RoleAssignment | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sets the role of a user or group in a scope; it replaces the current one. */
export function RoleForm({ assign, isBusy, assignment, onClose, onDone }: RoleFormProps) {
  const toasts = useToasts();
  const [chosen, setChosen] = useState('');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const organizationId = assignment === null ? chosen : assignment.organizationId;
  const submit = async (fields: FormFields) => {
    if (organizationId === '') {
      return setErrors([{ message: texts.selectOrganization, path: ['organizationId'] }]);
    }
    const refused = await assign(organizationId, fields.text('roleId'));
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.roleSaved);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={
        assignment === null ? texts.addToOrganization : organizationId === null ? common.enterpriseRole : texts.editRole
      }
      submitLabel={assignment === null ? texts.addToOrganization : common.save}
      isBusy={isBusy}
      errors={errors}
      fieldNames={['organizationId', 'roleId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      {assignment === null && (
        <OrganizationPicker value={chosen} error={errorOf(errors, 'organizationId')} onChange={setChosen} />
      )}
      <RoleSelect
        scope={organizationId === null ? 'ENTERPRISE' : 'ORGANIZATION'}
        defaultValue={assignment?.roleId ?? 'org_member'}
        error={errorOf(errors, 'roleId')}
      />
    </FormDialog>
  );
}
