import type { ButtonHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import { visible } from './visible.ts';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'small' | 'normal';
  readonly icon?: IconName;
  /** True while its action runs: it ignores clicks and keeps the focus. */
  readonly isBusy?: boolean;
  readonly children?: ReactNode;
}

const refuse = (event: MouseEvent) => event.preventDefault();

/** A button. One with only an icon needs `aria-label`, which is also its tooltip. */
export function Button({ tone = 'plain', size = 'normal', icon, isBusy = false, children, ...rest }: ButtonProps) {
  const isIconOnly = children === undefined;
  const named = rest['aria-label'];
  const label = named === undefined ? undefined : visible(named);
  return (
    <button
      type="button"
      title={isIconOnly ? label : undefined}
      {...rest}
      aria-label={label}
      className={`button ${tone} ${size}${isIconOnly ? ' bare' : ''}`}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || rest['aria-disabled']}
      onClick={isBusy ? refuse : rest.onClick}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}
