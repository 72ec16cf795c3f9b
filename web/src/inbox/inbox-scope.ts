import { useMemo, useSyncExternalStore } from 'react';
import type { inboxQuery$variables } from '../__generated__/inboxQuery.graphql.ts';
import { hasPersonalState, useSigned } from '../app/gate.tsx';

/** The sessions in the inbox: those that the viewer started, or all of the organization. */
export type Scope = 'mine' | 'all';

const key = 'switchyard:inbox-scope';
const listeners = new Set<() => void>();

/** Stores a choice in this browser. */
export function setScope(scope: Scope): void {
  localStorage.setItem(key, scope);
  for (const listener of [...listeners]) listener();
}

/** Returns the current choice; at first, the viewer's own sessions. */
export function useScope(): Scope {
  return useSyncExternalStore(subscribe, () => (localStorage.getItem(key) === 'all' ? 'all' : 'mine'));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The groups of the inbox, in their order. Pinned sessions that need a person are in the first group. */
export const inboxGroups = ['needsYou', 'pinned', 'working', 'done'] as const;
/** See {@link inboxGroups}. */
export type InboxGroupName = (typeof inboxGroups)[number];

/** The inbox of the viewer in the current organization. */
export interface InboxOf {
  readonly variables: inboxQuery$variables;
  /** The global ID of the organization, which its lists belong to. */
  readonly organization: string;
  /** The global ID of the principal whose sessions are shown; null: those of everybody. */
  readonly owner: string | null;
}

/** Returns the variables of the inbox; null if the viewer may not see sessions, or has no organization. */
export function useInboxOf(): InboxOf | null {
  const { organization, viewer, may } = useSigned();
  const scope = useScope();
  const owner = scope === 'mine' ? (viewer.principal?.id ?? null) : null;
  // The service refuses the filter to service keys.
  const hasMarks = hasPersonalState(viewer);
  const isVisible = may('VIEW_ORG_SESSIONS');
  const { id, organizationId } = organization ?? {};
  return useMemo(() => {
    if (!isVisible || id === undefined || organizationId === undefined) return null;
    const all = { isArchived: false, ...(owner === null ? {} : { createdByIds: [owner] }) };
    const unpinned = { ...all, ...(hasMarks ? { isPinned: false } : {}) };
    const variables: inboxQuery$variables = {
      id: organizationId,
      hasMarks,
      needsYou: { ...all, group: ['NEEDS_YOU'] },
      pinned: { ...all, isPinned: true, group: ['WORKING', 'DONE'] },
      working: { ...unpinned, group: ['WORKING'] },
      done: { ...unpinned, group: ['DONE'] },
    };
    return { variables, organization: id, owner };
  }, [isVisible, id, organizationId, owner, hasMarks]);
}
