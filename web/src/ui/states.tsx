import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Icon, Mark } from './icons.tsx';

/** While the whole console loads. */
export function Splash() {
  return (
    <div className="splash" role="status" aria-label="Loading">
      <Mark size={40} />
    </div>
  );
}

/** While a part loads: as high as what comes, so that nothing jumps. */
export function Loading({ label, rows = 6 }: { readonly label: string; readonly rows?: number }) {
  return (
    <div className="skeletons" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: these are all alike.
        <div className="skeleton" key={index} />
      ))}
    </div>
  );
}

/** Where nothing is, and why, and what to do about it. */
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

/** What could not be shown, in the service's words. */
export function Failed(props: {
  readonly message: string;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}) {
  const { message, onRetry, children } = props;
  return (
    <div className="empty" role="alert">
      <Icon name="warning" size={28} />
      <h2>This could not be shown</h2>
      <p>{message}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
      {children}
    </div>
  );
}
