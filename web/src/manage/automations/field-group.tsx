import { type ReactNode, useState } from 'react';

interface FieldGroupProps {
  readonly title: string;
  /** The values that are set, in words. */
  readonly summary: string;
  /** True if a field of the group has an error: the group is open. */
  readonly hasProblem: boolean;
  readonly children: ReactNode;
}

/** Fields that few people need, collapsed to a line that says what is set. It opens for an error in one of them. */
export function FieldGroup({ title, summary, hasProblem, children }: FieldGroupProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="field-group"
      open={isOpen || hasProblem}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      // The browser refuses to submit a form with a wrong value in a collapsed group, and cannot show it.
      onInvalidCapture={() => setOpen(true)}
    >
      <summary>
        <span className="group-title">{title}</span> <span className="soft">{summary}</span>
      </summary>
      <div className="group-fields">{children}</div>
    </details>
  );
}
