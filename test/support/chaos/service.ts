import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import pg from 'pg';
import { findByEnvironment, signalProcess } from '../../../src/agents/sandbox/process-identity.ts';
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

/** A service of three processes, with clients that retry when the process that they use was killed. */
export class ChaosService {
  readonly root = mkdtempSync(join(tmpdir(), 'switchyard-chaos-'));
  readonly database: pg.Client;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Map<Name, Promise<ServerProcess>>();
  readonly #ports = new Map<Name, number>();
  /** The number of kills of the server: an operation that failed in one life may be retried in the next. */
  #lives = 0;
  #client: Client | null = null;
  /** The number of retries by clients. */
  retries = 0;

  constructor(url: string, env: Readonly<Record<string, string>>) {
    this.#env = { ...env, DATABASE_URL: url };
    this.database = new pg.Client(url);
  }

  /** Starts all three processes. */
  static async start(slots: number): Promise<ChaosService> {
    const settings = {
      memory_mb: 50,
      mcp: false,
      warm_ttl_ms: 1_000,
      // More than the number of kills in one turn.
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
    // The server first: the workers need its enterprise.
    for (const name of processes) service.#begin(name, service.#spawn(name));
    await Promise.all(service.#running.values());
    return service;
  }

  #spawn(name: Name): Promise<ServerProcess> {
    const roles = name === 'server' ? 'api,scheduler' : 'worker';
    // Without a sandbox, agents survive the kill of their worker until it is back.
    const sandbox = name === 'worker two' ? 'none' : 'auto';
    const port = String(this.#ports.get(name));
    // A session may move: all processes share the storage with its checkpoints.
    const directories = { DATA_DIR: join(this.root, name), ATTACHMENTS_DIR: join(this.root, 'files') };
    const env = { ...directories, ROLES: roles, PORT: port, SANDBOX: sandbox };
    return startServer({ ...this.#env, ...env });
  }

  #begin(name: Name, starting: Promise<ServerProcess>): void {
    // The process that needs it gets the error of a failed start.
    starting.catch(() => undefined);
    this.#running.set(name, starting);
  }

  #get(name: Name): Promise<ServerProcess> {
    return this.#running.get(name) as Promise<ServerProcess>;
  }

  /** Kills a process with SIGKILL, and restarts it with the same directory and port. */
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

  /** Freezes a worker for longer than its leases last, and then resumes it. */
  async freeze(name: Name): Promise<void> {
    const { pid } = await this.#get(name);
    signalProcess(pid, 'SIGSTOP');
    await wait(15_000);
    signalProcess(pid, 'SIGCONT');
  }

  /** Returns the ids of the workers, which their agents have in their environment. */
  workerIds(): string[] {
    return ['worker one', 'worker two'].map((name) => readFileSync(join(this.root, name, 'worker.id'), 'utf8').trim());
  }

  /** Returns the living processes of all runs. */
  agents(): number[] {
    return this.workerIds().flatMap((id) => findByEnvironment({ SWITCHYARD_WORKER: id }));
  }

  /** Kills one process of a run; returns false if there is none. */
  killAgent(random: Random): boolean {
    const pids = this.agents();
    const pid = pids[random.below(pids.length)];
    return pid !== undefined && signalProcess(pid, 'SIGKILL');
  }

  /** Runs a document, and retries until there is a response. Throws if the service refuses it. */
  async queryUntilAccepted(query: string, variables: Record<string, unknown>): Promise<any> {
    const { data, errors } = await this.#again(({ url }) => graphql({ url }, bootstrapToken, query, variables));
    const problems = [...(errors ?? []), ...Object.values<any>(data ?? {}).flatMap((each) => each?.userErrors ?? [])];
    if (problems.length > 0) throw new Error(`${JSON.stringify(variables)}: ${JSON.stringify(problems)}`);
    return data;
  }

  /** Like queryUntilAccepted, for a path of REST. */
  async requestUntilAccepted(method: string, path: string): Promise<void> {
    const { status, body } = await this.#again((server) => call(server, bootstrapToken, method, path));
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }

  /** Reads the payloads of a subscription until `take` returns a value; subscribes again after each restart of the server. */
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

  /** Stops all processes like an operator; returns their exit codes. */
  async stop(): Promise<(number | null)[]> {
    const all = await Promise.all(this.#running.values());
    return Promise.all(all.map((each) => each.stop()));
  }

  /** Returns the output of all processes since their last start. */
  async output(): Promise<string> {
    const all = await Promise.all(this.#running.values());
    return all.map((each) => each.output()).join('\n');
  }

  async close(): Promise<void> {
    await this.database.end();
    rmSync(this.root, { recursive: true, force: true });
  }
}
