import './menu.css';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';
import { usePopoverPosition } from './use-popover-position.ts';

/** An action in a menu. */
export interface MenuItem {
  /** A verb with its object. Unique in its menu. */
  readonly label: string;
  readonly icon: IconName;
  readonly tone?: 'danger' | undefined;
  run(): void;
}

interface MenuButtonProps {
  /** The subject of the actions, for screen readers and as a tooltip. */
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly isBusy?: boolean;
}

/** The effect of keys on the position in the menu. */
const moves: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
};

/** A button that opens a menu of actions: the menu button pattern of WAI-ARIA 1.2. */
export function MenuButton({ label, items, isBusy = false }: MenuButtonProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  usePopoverPosition(isOpen, box, popup);
  const itemsOf = () => [...(popup.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    popup.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const press = ({ target }: PointerEvent) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', press, true);
    return () => document.removeEventListener('pointerdown', press, true);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Tab') return setOpen(false);
    const elements = itemsOf();
    const move = moves[event.key];
    if (event.key === 'Escape') close();
    else if (move) elements[move(elements.indexOf(document.activeElement as HTMLElement), elements.length)]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="menu-box" ref={box}>
      <Button
        tone="quiet"
        size="small"
        icon="more"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        isBusy={isBusy}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <div className="menu" id={id} role="menu" aria-label={label} ref={popup} popover="manual" onKeyDown={press}>
          {items.map(({ label: name, icon, tone, run }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={tone}
              onClick={() => {
                close();
                run();
              }}
            >
              <Icon name={icon} />
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
