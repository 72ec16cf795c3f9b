import type { RoleScope } from '../../__generated__/useRoleChoicesQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useRoleChoices } from '../../pickers/use-role-choices.ts';
import { common } from '../../texts/common.ts';
import { Picker } from '../../ui/picker.tsx';
import { fixedChoices } from '../../ui/use-choices.ts';

interface RoleSelectProps {
  readonly scope: RoleScope;
  readonly defaultValue: string;
  readonly error: string | null;
  /** The label of "no role"; if missing, a role is required. */
  readonly none?: string;
}

const builtIn = {
  ORGANIZATION: [
    { value: 'org_member', label: common.member },
    { value: 'org_admin', label: common.admin },
  ],
  ENTERPRISE: [
    { value: 'account_member', label: common.member },
    { value: 'account_admin', label: common.admin },
  ],
} as const;

const noOthers = fixedChoices([]);

/** Selects a role: a built-in one, or one of the enterprise's if the viewer may see them. */
export function RoleSelect({ scope, defaultValue, error, none }: RoleSelectProps) {
  const { may } = useSigned();
  const own = useRoleChoices(scope);
  return (
    <Picker
      label={common.role}
      name="roleId"
      source={may('VIEW_ACCOUNT_MEMBERSHIP') ? own : noOthers}
      first={builtIn[scope === 'ENTERPRISE' ? 'ENTERPRISE' : 'ORGANIZATION']}
      defaultValue={defaultValue}
      error={error}
      {...(none === undefined ? {} : { none })}
    />
  );
}
