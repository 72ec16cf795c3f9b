import { useSigned } from '../../app/gate.tsx';
import { useAllOrganizationChoices, useOrganizationChoices } from '../../pickers/use-organization-choices.ts';
import { common } from '../../texts/common.ts';
import { Picker } from '../../ui/picker.tsx';

interface OrganizationPickerProps {
  /** The label of "none"; if missing, a choice is required. */
  readonly none?: string;
  readonly value: string;
  readonly valueLabel?: string | undefined;
  readonly error: string | null;
  readonly onChange: (organizationId: string) => void;
}

/**
 * Selects an organization: any of the enterprise if the viewer may see them, otherwise those that the viewer may use.
 */
export function OrganizationPicker(props: OrganizationPickerProps) {
  const { may } = useSigned();
  const all = useAllOrganizationChoices();
  const usable = useOrganizationChoices();
  return <Picker label={common.organization} source={may('READ_ACCOUNT_META') ? all : usable} {...props} />;
}
