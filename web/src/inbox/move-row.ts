import { ConnectionHandler, type RecordProxy, type RecordSourceProxy } from 'relay-runtime';
import { insertRow, removeRow } from '../sessions/session-connection.ts';
import { type InboxGroupName, type InboxOf, inboxGroups } from './inbox-scope.ts';

/** Returns the ID of a group's list in the store of Relay. */
export const connectionOf = ({ organization, variables }: InboxOf, group: InboxGroupName): string =>
  ConnectionHandler.getConnectionID(organization, 'inboxGroupFragment_sessions', { filter: variables[group] });

/** The group in which the inbox shows a session; null: it does not show it. */
export function inboxGroupOf(session: RecordProxy, owner: string | null): InboxGroupName | null {
  if (session.getValue('isArchived') === true) return null;
  if (owner !== null && session.getLinkedRecord('createdBy')?.getDataID() !== owner) return null;
  const group = session.getValue('group');
  if (group === 'NEEDS_YOU') return 'needsYou';
  if (session.getValue('isPinned') === true) return 'pinned';
  return group === 'WORKING' ? 'working' : 'done';
}

/**
 * Moves the row of a session to its group, and counts it there. `session`: null if the inbox no longer shows it. Returns the group
 * of the row before; null if it was in none, because it is new (`isNew`) or below the loaded rows: the counts must then be read again.
 */
export function moveRow(
  store: RecordSourceProxy,
  inbox: InboxOf,
  sessionId: string,
  session: RecordProxy | null,
  isNew = false,
): InboxGroupName | null {
  const target = session === null ? null : inboxGroupOf(session, inbox.owner);
  const before = inboxGroups.find((group) => hasRow(store, connectionOf(inbox, group), sessionId)) ?? null;
  if (before === target) return before;
  if (before !== null) {
    removeRow(store, connectionOf(inbox, before), sessionId);
    addToCount(store, connectionOf(inbox, before), -1);
  }
  if (target !== null) {
    insertRow(store, connectionOf(inbox, target), session);
    if (before !== null || isNew) addToCount(store, connectionOf(inbox, target), 1);
  }
  return before;
}

function hasRow(store: RecordSourceProxy, connectionId: string, sessionId: string): boolean {
  const edges = store.get(connectionId)?.getLinkedRecords('edges') ?? [];
  return edges.some((edge) => edge?.getLinkedRecord('node')?.getValue('sessionId') === sessionId);
}

function addToCount(store: RecordSourceProxy, connectionId: string, by: number): void {
  const connection = store.get(connectionId);
  connection?.setValue(Math.max(0, Number(connection.getValue('totalCount') ?? 0) + by), 'totalCount');
}
