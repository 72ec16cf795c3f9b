const connections = new WeakMap<Request, () => void>();

/** Remembers how the connection of a request is cut: what answers it knows nothing of sockets. */
export function setDestroySocket(request: Request, destroy: () => void): void {
  connections.set(request, destroy);
}

/** Cuts the connection that a request came by, with all that waits to be sent on it. */
export function destroySocket(request: Request): void {
  connections.get(request)?.();
}
