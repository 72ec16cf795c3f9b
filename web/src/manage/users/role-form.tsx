import { useState } from 'react';
import { errorOf } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormProblem, type Given } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';
import { scopeOf } from '../kit/whose.ts';
import { OrganizationPicker } from './organization-picker.tsx';
import { useAssign } from './use-assign.ts';

/** A place where somebody has a role, or is to get one; null for the enterprise. */
export interface RolePlace {
  readonly organizationId: string | null;
  readonly roleId: string;
}

interface RoleFormProps {
  readonly userId: string;
  /** Where the role is; null: in an organization that is chosen here. */
  readonly place: RolePlace | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Gives somebody a role in a place, in place of the one that they have there. */
export function RoleForm({ userId, place, onClose, onDone }: RoleFormProps) {
  const toasts = useToasts();
  const [chosen, setChosen] = useState('');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [assign, isBusy] = useAssign();
  const organizationId = place === null ? chosen : place.organizationId;
  const submit = async (given: Given) => {
    if (organizationId === '') {
      return setErrors([{ message: 'Choose an organization first.', path: ['organizationId'] }]);
    }
    const { errors: refused } = await assign({
      input: { principal: { userId }, scope: scopeOf(organizationId), roleId: given.text('roleId') },
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say('The role is given.');
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={
        place === null
          ? 'Add to an organization'
          : organizationId === null
            ? 'Role on the enterprise'
            : 'Change the role'
      }
      act={place === null ? 'Add' : 'Save'}
      isBusy={isBusy}
      errors={errors}
      placed={['organizationId', 'roleId']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      {place === null && (
        <OrganizationPicker value={chosen} error={errorOf(errors, 'organizationId')} onChange={setChosen} />
      )}
      <RoleSelect
        scope={organizationId === null ? 'ENTERPRISE' : 'ORGANIZATION'}
        defaultValue={place?.roleId ?? 'org_member'}
        error={errorOf(errors, 'roleId')}
      />
    </FormDialog>
  );
}
