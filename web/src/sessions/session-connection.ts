import { ConnectionHandler, type RecordProxy, type RecordSourceProxy } from 'relay-runtime';

/** The field that a list is ordered by, the greatest value first. */
export type SortField = 'createdAt' | 'updatedAt';

/** Removes the rows that are not to be kept, by their id and the value of the list's order. */
export function keepRows(
  store: RecordSourceProxy,
  connectionId: string,
  isKept: (id: string, at: string) => boolean,
  by: SortField = 'createdAt',
): void {
  const connection = store.get(connectionId);
  const edges = connection?.getLinkedRecords('edges') ?? [];
  const left = edges.filter((each) => {
    const node = each?.getLinkedRecord('node');
    return node != null && isKept(node.getDataID(), String(node.getValue(by) ?? ''));
  });
  if (left.length < edges.length) connection?.setLinkedRecords(left, 'edges');
}

/** Removes the row of a session. Returns true if there was one. */
export function removeRow(store: RecordSourceProxy, connectionId: string, sessionId: string): boolean {
  const connection = store.get(connectionId);
  const edges = connection?.getLinkedRecords('edges') ?? [];
  const left = edges.filter((each) => each?.getLinkedRecord('node')?.getValue('sessionId') !== sessionId);
  if (left.length < edges.length) connection?.setLinkedRecords(left, 'edges');
  return left.length < edges.length;
}

/**
 * Inserts a row in the order of the list, or moves it there: of two new sessions, the later one may arrive first. One below the loaded
 * rows is left out.
 */
export function insertRow(
  store: RecordSourceProxy,
  connectionId: string,
  node: RecordProxy | null | undefined,
  by: SortField = 'createdAt',
): void {
  const connection = store.get(connectionId);
  if (!connection || !node) return;
  const all = connection.getLinkedRecords('edges') ?? [];
  const edges = all.filter((each) => each?.getLinkedRecord('node')?.getDataID() !== node.getDataID());
  // The creation time never changes.
  if (edges.length < all.length && by === 'createdAt') return;
  const at = (each: RecordProxy | null | undefined) => String(each?.getValue(by) ?? '');
  const older = edges.findIndex((each) => at(each?.getLinkedRecord('node')) < at(node));
  // A session below the loaded ones comes with the next page.
  if (older < 0 && connection.getLinkedRecord('pageInfo')?.getValue('hasNextPage')) return;
  const index = older < 0 ? edges.length : older;
  const edge = ConnectionHandler.createEdge(store, connection, node, 'SessionEdge');
  connection.setLinkedRecords([...edges.slice(0, index), edge, ...edges.slice(index)], 'edges');
}
