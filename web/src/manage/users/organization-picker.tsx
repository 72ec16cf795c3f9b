import { useSigned } from '../../app/gate.tsx';
import { useAllOrganizationChoices, useOrganizationChoices } from '../../pickers/use-organization-choices.ts';
import { Picker } from '../../ui/picker.tsx';

interface OrganizationPickerProps {
  /** The choice of none; left out where one must be chosen. */
  readonly none?: string;
  readonly value: string;
  readonly valueLabel?: string | undefined;
  readonly error: string | null;
  readonly onChange: (organizationId: string) => void;
}

/** An organization to put somebody into: any of the enterprise where the viewer may see them, else those that it may use. */
export function OrganizationPicker(props: OrganizationPickerProps) {
  const { may } = useSigned();
  const all = useAllOrganizationChoices();
  const usable = useOrganizationChoices();
  return <Picker label="Organization" source={may('READ_ACCOUNT_META') ? all : usable} {...props} />;
}
