/**
 * What Node is started with by tests, where many processes share few cores: V8 gives each one thread beside its own, not four
 * that wait for each other. The start of a server takes a quarter less of CPU so.
 */
export const oneThread: readonly string[] = ['--v8-pool-size=1'];
