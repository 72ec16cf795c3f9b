import { useSigned } from '../../app/gate.tsx';
import { usePlaybookChoices } from '../../pickers/use-playbook-choices.ts';
import { common } from '../../texts/common.ts';
import { Picker } from '../../ui/picker.tsx';

interface PlaybookSelectProps {
  /** The id in any form; empty: none. */
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (playbookId: string) => void;
}

/** Selects a playbook. A stored playbook that is not among the choices stays selected, by its id. */
export function PlaybookSelect({ value, error, onChange }: PlaybookSelectProps) {
  const { organization } = useSigned();
  const playbooks = usePlaybookChoices(organization?.organizationId ?? '');
  return (
    <Picker
      label={common.playbook}
      none={common.none}
      source={playbooks}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
