const connections = new WeakMap<Request, () => void>();

/** Registers the function that closes a request's connection, because handlers do not know sockets. */
export function setDestroySocket(request: Request, destroy: () => void): void {
  connections.set(request, destroy);
}

/** Closes the connection of a request and drops everything that waits to be sent on it. */
export function destroySocket(request: Request): void {
  connections.get(request)?.();
}
