import { expect, it } from 'vitest';
import { runChaos } from '../support/chaos/chaos.ts';
import { checkLeftovers, checkSessions } from '../support/chaos/checks.ts';
import { createRandom } from '../support/chaos/scenarios.ts';
import { testDatabase } from '../support/test-store.ts';

// A server and two workers, killed at random under load. CHAOS_SESSIONS=200 is the complete run; CHAOS_SEED repeats a run, as
// far as timing allows.
const count = Number(process.env.CHAOS_SESSIONS ?? 20);
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);

it.skipIf(testDatabase !== 'postgres')(
  'loses nothing, repeats nothing and leaves nothing behind when agents, workers and the server are killed',
  async () => {
    const share = count / 20;
    const wanted = {
      agents: Math.ceil(5 * share),
      workers: Math.ceil(1.5 * share),
      server: Math.ceil(share / 2),
      freezes: Math.floor(share / 5),
    };
    const chaosRun = await runChaos(count, wanted, createRandom(seed));
    const { service, kills, durationMs } = chaosRun;
    const exits = await service.stop();
    const { problems, states, turns } = await checkSessions(chaosRun);
    problems.push(...(await checkLeftovers(service)));
    await service.close();
    const { retries } = service;
    const figures = { seed, sessions: count, kills, retries, states, turns, seconds: Math.round(durationMs / 1_000) };
    process.stdout.write(`Chaos: ${JSON.stringify(figures)}\n`);
    expect(problems, `CHAOS_SEED=${seed}`).toEqual([]);
    expect(exits).toEqual([0, 0, 0]);
    expect(kills).toMatchObject({ workers: wanted.workers, server: wanted.server });
    expect(kills.agents).toBeGreaterThan(0);
    expect(service.retries).toBeGreaterThan(0);
    expect(turns.interrupted).toBeGreaterThan(0);
  },
  60_000 + count * 12_000,
);
