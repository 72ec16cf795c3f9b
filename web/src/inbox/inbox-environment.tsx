import type { ReactNode } from 'react';
import { RelayEnvironmentProvider, useRelayEnvironment } from 'react-relay';
import { separateEnvironment } from '../relay/environment.ts';

/** Gives the inbox a store of its own: it is live beside a page that reads more of the same sessions. */
export function InboxEnvironment({ children }: { readonly children: ReactNode }) {
  const environment = separateEnvironment(useRelayEnvironment());
  return <RelayEnvironmentProvider environment={environment}>{children}</RelayEnvironmentProvider>;
}
