import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../ui/icons.tsx';

/** A group of the palette's choices with its heading; nothing without choices. */
export function ChoiceGroup({ label, children }: { readonly label: string; readonly children: readonly ReactNode[] }) {
  const id = useId();
  if (children.length === 0) return null;
  return (
    <>
      <h3 id={id}>{label}</h3>
      <ul aria-labelledby={id}>{children}</ul>
    </>
  );
}

interface ChoiceItemProps {
  readonly icon: IconName;
  readonly children: ReactNode;
  /** The path of the session to which it leads, so that its page is loaded in advance. */
  readonly address?: string;
  readonly onChoose: () => void;
}

/** A choice of the palette. */
export function ChoiceItem({ icon, children, address, onChoose }: ChoiceItemProps) {
  return (
    <li>
      <button type="button" data-choice data-address={address} onClick={onChoose}>
        <Icon name={icon} /> {children}
      </button>
    </li>
  );
}
