import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type ServerProcess, startServer } from './server.ts';

/** The time for which a process answers after it has reported that it stops: balancers see it meanwhile. */
const stopDelaySeconds = 2;
const probeMs = 100;

/** Processes of a service behind a balancer, which sends requests only to those whose `/readyz` answers 200. */
export class BalancedService {
  readonly #env: readonly Readonly<Record<string, string>>[];
  readonly #servers: ServerProcess[] = [];
  #ready: string[] = [];
  #next = 0;

  private constructor(env: readonly Readonly<Record<string, string>>[]) {
    this.#env = env;
  }

  /** Starts a process for each environment, one after another: the first one creates what the database has. */
  static async start(env: readonly Readonly<Record<string, string>>[]): Promise<BalancedService> {
    const service = new BalancedService(
      env.map((each) => ({ ...each, STOP_DELAY_SECONDS: String(stopDelaySeconds), STOP_TIMEOUT_SECONDS: '120' })),
    );
    for (const each of service.#env) service.#servers.push(await startServer(each));
    await service.#probe();
    const probing = setInterval(() => void service.#probe(), probeMs);
    onTestFinished(() => clearInterval(probing));
    return service;
  }

  async #probe(): Promise<void> {
    const answers = await Promise.all(
      this.#servers.map(({ url }) =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    this.#ready = this.#servers.filter((_, at) => answers[at]).map(({ url }) => url);
  }

  /** Returns the address of a process that is ready: the next one each time. */
  async url(): Promise<string> {
    while (this.#ready.length === 0) await wait(probeMs);
    this.#next += 1;
    return this.#ready[this.#next % this.#ready.length] as string;
  }

  /** Stops a process, and starts a version in its place. Returns the exit code of the stop. */
  async replace(at: number, directory?: string): Promise<number | null> {
    const code = await this.#servers[at]?.stop();
    this.#servers[at] = await startServer(this.#env[at] ?? {}, {}, directory);
    return code ?? null;
  }

  /** Stops all processes; returns their exit codes. */
  stop(): Promise<(number | null)[]> {
    return Promise.all(this.#servers.map((server) => server.stop()));
  }
}
