import type { ReactNode } from 'react';
import { useIsConnectionLost } from '../relay/connectivity.ts';
import { common } from '../texts/common.ts';
import { states as texts } from '../texts/ui.ts';
import { Button } from './button.tsx';
import { Icon, Mark } from './icons.tsx';

/** Shown while the console loads. */
export function Splash() {
  return (
    <div className="splash" role="status" aria-label={common.loading}>
      <Mark size={40} />
    </div>
  );
}

interface LoadingProps {
  readonly label: string;
  readonly rows?: number;
  /** True if the part could not be loaded because the service cannot be reached. */
  readonly isWaiting?: boolean;
}

/** A placeholder while a part loads: as high as its content, so that nothing moves. It says if the service cannot be reached. */
export function Loading({ label, rows = 6, isWaiting = false }: LoadingProps) {
  const isLost = useIsConnectionLost();
  return (
    <div className="skeletons" role="status" aria-label={label}>
      {(isLost || isWaiting) && <p className="hint">{texts.waitsForService}</p>}
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: these are all alike.
        <div className="skeleton" key={index} />
      ))}
    </div>
  );
}

/** The message of an empty list, with an explanation and a next step. */
export function Empty(props: { readonly title: string; readonly text?: ReactNode; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <Mark size={36} />
      <h2>{props.title}</h2>
      {props.text && <p>{props.text}</p>}
      {props.children}
    </div>
  );
}

/** An error message of the service in place of content. */
export function Failed(props: {
  readonly message: string;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}) {
  const { message, onRetry, children } = props;
  return (
    <div className="empty" role="alert">
      <Icon name="warning" size={28} />
      <h2>{texts.notLoaded}</h2>
      <p>{message}</p>
      {onRetry && <Button onClick={onRetry}>{common.tryAgain}</Button>}
      {children}
    </div>
  );
}
