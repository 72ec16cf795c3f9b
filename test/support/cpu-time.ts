/**
 * Returns the minimum CPU time in ms that this process spent in one of three calls. Other processes and pauses of this one don't count, so
 * two such times show how work grows with its size, also on a busy machine.
 */
export async function minCpuTime(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 3; count++) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}
