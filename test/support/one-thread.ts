/**
 * Node options for tests, in which many processes share few cores: V8 gets one additional thread instead of four that
 * compete. A server's start needs a quarter less CPU.
 */
export const oneThread: readonly string[] = ['--v8-pool-size=1'];
