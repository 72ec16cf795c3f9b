import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import pg from 'pg';
import { findByEnvironment, signalProcess } from '../../../src/agents/process-identity.ts';
import { call, graphql } from '../app.ts';
import { writeProfiles } from '../profiles.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../server.ts';
import { connect, follow } from '../sockets.ts';
import { createDatabase } from '../test-store.ts';
import type { Random } from './scenarios.ts';

/** The processes of the service. */
export const processes = ['server', 'worker one', 'worker two'] as const;
/** See {@link processes}. */
export type Name = (typeof processes)[number];

/** A service of three processes whose clients do not give up when the one that they talk to is gone. */
export class ChaosService {
  readonly root = mkdtempSync(join(tmpdir(), 'switchyard-chaos-'));
  readonly database: pg.Client;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Map<Name, Promise<ServerProcess>>();
  readonly #ports = new Map<Name, number>();
  /** How often the server was killed: what broke under one of its lives may be tried again in the next. */
  #lives = 0;
  #client: Client | null = null;
  /** How often clients had to try again. */
  retries = 0;

  constructor(url: string, env: Readonly<Record<string, string>>) {
    this.#env = { ...env, DATABASE_URL: url };
    this.database = new pg.Client(url);
  }

  /** Starts all three. */
  static async start(slots: number): Promise<ChaosService> {
    const settings = {
      memory_mb: 50,
      mcp: false,
      warm_ttl_ms: 1_000,
      // More than there are kills for one turn.
      retry_delays_ms: [0, 0, 50, 50, 100, 100],
      stop_graces_ms: { cancel: 1_000, stdin: 500, term: 300 },
    };
    const service = new ChaosService(await createDatabase(), {
      SECRET_KEY: 'the same secret key in every process',
      AGENTS_CONFIG: await writeProfiles(
        settings,
        { ...settings, extends: 'demo', id: 'reporting', mcp: true },
        { ...settings, extends: 'demo', id: 'steered', steer: 'cancel' },
        { ...settings, extends: 'demo', id: 'crashing', retry_delays_ms: [0, 50] },
      ),
      LOG_LEVEL: 'warn',
      LEASE_SECONDS: '5',
      WORKSPACE_AFFINITY_SECONDS: '1',
      MAX_CONCURRENT_SESSIONS: String(slots),
      RATE_LIMIT_GRAPHQL: '0',
      RATE_LIMIT_REST: '0',
    });
    await service.database.connect();
    for (const name of processes) service.#ports.set(name, await freePort());
    // The server first: the others find its enterprise.
    for (const name of processes) service.#begin(name, service.#spawn(name));
    await Promise.all(service.#running.values());
    return service;
  }

  #spawn(name: Name): Promise<ServerProcess> {
    const roles = name === 'server' ? 'api,scheduler' : 'worker';
    // Without a sandbox, agents outlive a killed worker until it is back.
    const sandbox = name === 'worker two' ? 'none' : 'auto';
    const port = String(this.#ports.get(name));
    const env = { ROLES: roles, DATA_DIR: join(this.root, name), PORT: port, SANDBOX: sandbox };
    return startServer({ ...this.#env, ...env });
  }

  #begin(name: Name, starting: Promise<ServerProcess>): void {
    // Whoever needs it hears of a start that failed.
    starting.catch(() => undefined);
    this.#running.set(name, starting);
  }

  #get(name: Name): Promise<ServerProcess> {
    return this.#running.get(name) as Promise<ServerProcess>;
  }

  /** `kill -9`, and the same again with the same directory and port. */
  async kill(name: Name): Promise<void> {
    const before = this.#get(name);
    const again = async () => {
      await (await before).kill();
      return this.#spawn(name);
    };
    if (name === 'server') {
      this.#lives += 1;
      this.#client = null;
    }
    this.#begin(name, again());
    await this.#get(name);
  }

  /** Stops a worker for longer than its leases hold, and lets it go on. */
  async freeze(name: Name): Promise<void> {
    const { pid } = await this.#get(name);
    signalProcess(pid, 'SIGSTOP');
    await wait(15_000);
    signalProcess(pid, 'SIGCONT');
  }

  /** The ids of the workers, as their agents carry them. */
  workerIds(): string[] {
    return ['worker one', 'worker two'].map((name) => readFileSync(join(this.root, name, 'worker.id'), 'utf8').trim());
  }

  /** All processes of all runs that live. */
  agents(): number[] {
    return this.workerIds().flatMap((id) => findByEnvironment({ SWITCHYARD_WORKER: id }));
  }

  /** Kills one process of a run; false: there is none. */
  killAgent(random: Random): boolean {
    const pids = this.agents();
    const pid = pids[random.below(pids.length)];
    return pid !== undefined && signalProcess(pid, 'SIGKILL');
  }

  /** Runs a document until it is answered: whoever is not answered asks again. Throws what the service refuses. */
  async queryUntilAccepted(query: string, variables: Record<string, unknown>): Promise<any> {
    const { data, errors } = await this.#again(({ url }) => graphql({ url }, bootstrapToken, query, variables));
    const problems = [...(errors ?? []), ...Object.values<any>(data ?? {}).flatMap((each) => each?.userErrors ?? [])];
    if (problems.length > 0) throw new Error(`${JSON.stringify(variables)}: ${JSON.stringify(problems)}`);
    return data;
  }

  /** The same for a path of REST. */
  async requestUntilAccepted(method: string, path: string): Promise<void> {
    const { status, body } = await this.#again((server) => call(server, bootstrapToken, method, path));
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }

  /** Payloads of a subscription until `take` gives something; begun again with each life of the server. */
  async listen<T>(query: string, variables: () => Record<string, unknown>, take: (data: any) => T | null): Promise<T> {
    return this.#again(async ({ url }) => {
      this.#client ??= connect(url, bootstrapToken);
      const following = follow(this.#client, query, variables());
      try {
        for (;;) {
          const [payload] = await following.take(1);
          if (payload.errors) throw new Error(JSON.stringify(payload.errors));
          const taken = take(payload.data);
          if (taken !== null) return taken;
        }
      } finally {
        following.stop();
      }
    });
  }

  async #again<T>(send: (server: ServerProcess) => Promise<T>): Promise<T> {
    for (;;) {
      const server = await this.#get('server');
      const life = this.#lives;
      try {
        return await send(server);
      } catch (error) {
        if (life === this.#lives) throw error;
        this.retries += 1;
      }
    }
  }

  /** Stops all of them as operators do; gives their exit codes. */
  async stop(): Promise<(number | null)[]> {
    const all = await Promise.all(this.#running.values());
    return Promise.all(all.map((each) => each.stop()));
  }

  /** What they have printed in their last lives. */
  async output(): Promise<string> {
    const all = await Promise.all(this.#running.values());
    return all.map((each) => each.output()).join('\n');
  }

  async close(): Promise<void> {
    await this.database.end();
    rmSync(this.root, { recursive: true, force: true });
  }
}
