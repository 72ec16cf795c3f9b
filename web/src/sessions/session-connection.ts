import { ConnectionHandler, type RecordProxy, type RecordSourceProxy } from 'relay-runtime';

/** Removes the rows that are not to be kept, by their id and creation time. */
export function keepRows(
  store: RecordSourceProxy,
  connectionId: string,
  isKept: (id: string, createdAt: string) => boolean,
): void {
  const connection = store.get(connectionId);
  const edges = connection?.getLinkedRecords('edges') ?? [];
  const left = edges.filter((each) => {
    const node = each?.getLinkedRecord('node');
    return node != null && isKept(node.getDataID(), String(node.getValue('createdAt') ?? ''));
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
 * Inserts a row by the creation time of its session: of two new sessions, the later one may arrive first. One below the loaded rows
 * is left out.
 */
export function insertRow(store: RecordSourceProxy, connectionId: string, node: RecordProxy | null | undefined): void {
  const connection = store.get(connectionId);
  if (!connection || !node) return;
  const edges = connection.getLinkedRecords('edges') ?? [];
  if (edges.some((each) => each?.getLinkedRecord('node')?.getDataID() === node.getDataID())) return;
  const startedAt = (each: RecordProxy | null | undefined) => String(each?.getValue('createdAt') ?? '');
  const older = edges.findIndex((each) => startedAt(each?.getLinkedRecord('node')) < startedAt(node));
  // A session below the loaded ones comes with the next page.
  if (older < 0 && connection.getLinkedRecord('pageInfo')?.getValue('hasNextPage')) return;
  const index = older < 0 ? edges.length : older;
  const edge = ConnectionHandler.createEdge(store, connection, node, 'SessionEdge');
  connection.setLinkedRecords([...edges.slice(0, index), edge, ...edges.slice(index)], 'edges');
}
