import { Picker } from '../ui/picker.tsx';
import { useModelChoices } from './use-model-choices.ts';

interface ModelPickerProps {
  readonly label: string;
  /** Its name as a field of its form. */
  readonly name: string;
  readonly agentId: string;
  readonly organizationId: string;
  /** The label of no choice. */
  readonly none: string;
  readonly defaultValue?: string;
  readonly isDisabled?: boolean;
  readonly error?: string | null;
}

/** Selects a model for an agent, from those that the viewer's key offers; any other may be typed. */
export function ModelPicker({ agentId, organizationId, defaultValue = '', ...rest }: ModelPickerProps) {
  const source = useModelChoices(agentId, organizationId);
  return (
    <Picker {...rest} source={source} defaultValue={defaultValue} valueLabel={defaultValue || undefined} takesOther />
  );
}
