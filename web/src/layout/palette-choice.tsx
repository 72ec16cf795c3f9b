import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../ui/icons.tsx';

/** A group of the palette's choices with its heading; nothing without choices. */
export function ChoiceGroup({ label, children }: { readonly label: string; readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options of a list box, not of fields.
    <div role="group" aria-label={label}>
      <div className="palette-heading" aria-hidden="true">
        {label}
      </div>
      {children}
    </div>
  );
}

interface ChoiceItemProps {
  readonly icon: IconName;
  readonly children: ReactNode;
  /** The path of the session to which it leads, so that its page is loaded in advance. */
  readonly address?: string;
  readonly onChoose: () => void;
}

/** A choice of the palette. The field of the palette keeps the focus, see {@link useActiveChoice}. */
export function ChoiceItem({ icon, children, address, onChoose }: ChoiceItemProps) {
  const id = useId();
  return (
    <button type="button" role="option" id={id} tabIndex={-1} data-choice data-address={address} onClick={onChoose}>
      <Icon name={icon} /> {children}
    </button>
  );
}
