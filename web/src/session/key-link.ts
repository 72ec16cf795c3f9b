import type { AgentKeySource } from '../__generated__/keyActionQuery.graphql.ts';
import { common } from '../texts/common.ts';

/** The facts that decide where a viewer changes the key of a session. */
interface KeyLinkFacts {
  /** The source of the key of the viewer's own sessions on the agent; null: unknown. */
  readonly source: AgentKeySource | null;
  /** True if the session belongs to the viewer. */
  readonly isOwn: boolean;
  readonly mayHaveKeys: boolean;
  readonly mayChangeOrganization: boolean;
  readonly mayChangeEnterprise: boolean;
}

/** A page of the console, with its name. */
export interface KeyLink {
  readonly path: string;
  readonly label: string;
}

const ownKeys: KeyLink = { path: '/manage/my-model-keys', label: common.myModelKeys };
const sharedKeys: KeyLink = { path: '/manage/model-keys', label: common.modelKeys };

/** Returns the page on which the viewer changes the key of a session, or adds one that comes first; null: there is none. */
export function keyLink(facts: KeyLinkFacts): KeyLink | null {
  const { source, isOwn, mayHaveKeys, mayChangeOrganization, mayChangeEnterprise } = facts;
  const mayOwn = isOwn && mayHaveKeys;
  if (isOwn && source === 'USER' && mayOwn) return ownKeys;
  const mayChange =
    isOwn && source === 'ORGANIZATION'
      ? mayChangeOrganization
      : isOwn && source === 'ENTERPRISE'
        ? mayChangeEnterprise
        : mayChangeOrganization || mayChangeEnterprise;
  if (mayChange) return sharedKeys;
  return mayOwn ? ownKeys : null;
}
