import type { ReactNode } from 'react';
import { type Shown, showStatus } from './status.ts';

/** A coloured label; the text alone carries the meaning. */
export function Badge(props: {
  readonly tone?: Shown['tone'];
  readonly isWorking?: boolean;
  readonly children: ReactNode;
}) {
  const { tone = 'plain', isWorking = false, children } = props;
  return (
    <span className={`badge ${tone}${isWorking ? ' working' : ''}`}>
      <i className="dot" aria-hidden="true" />
      {children}
    </span>
  );
}

/** The status of a session. */
export function StatusBadge(props: Parameters<typeof showStatus>[0]) {
  const { label, ...rest } = showStatus(props);
  return <Badge {...rest}>{label}</Badge>;
}
