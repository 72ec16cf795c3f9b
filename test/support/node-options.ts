/**
 * Node options for tests, in which many short processes share few cores. The start of a server needs 40 % less CPU with them:
 * - V8 gets one additional thread instead of four that compete.
 * - WebAssembly (Prisma's query compiler and PGlite) is compiled once, fast. To optimize it takes longer than a test file gains.
 * - The young generation starts at its maximum, so that the objects of a start are not copied several times.
 */
export const nodeOptions: readonly string[] = ['--v8-pool-size=1', '--liftoff-only', '--min-semi-space-size=16'];
