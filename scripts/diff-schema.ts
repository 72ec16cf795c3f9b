import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type * as engineModule from '@prisma/schema-engine-wasm';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { type Migration, readMigrations } from '../src/store/migrations.ts';

const schemaFolder = fileURLToPath(new URL('../prisma/schema', import.meta.url));

/** Reads all of `prisma/schema/` as one text. */
export async function readSchema(): Promise<string> {
  const names = (await readdir(schemaFolder)).filter((name) => name.endsWith('.prisma')).sort();
  return (await Promise.all(names.map((name) => readFile(join(schemaFolder, name), 'utf8')))).join('\n');
}

/** The inputs of the comparison, if not the repository's own. */
export interface Compared {
  readonly schema?: string;
  readonly migrations?: readonly Migration[];
}

/**
 * The SQL that migrates the migrations' schema to `prisma/schema/`, or null if they agree. The migrations run on an
 * empty in-memory PGlite, and Prisma's schema engine in WebAssembly compares: no server, no download.
 */
export async function diffSchema(compared: Compared = {}): Promise<string | null> {
  const content = compared.schema ?? (await readSchema());
  const migrations = compared.migrations ?? (await readMigrations());
  const { stdout } = await withEngine(content, openEmpty, (engine) =>
    engine.diff({
      from: { tag: 'migrations', ...migrationList(migrations) },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content }] },
      script: true,
      exitCode: null,
      filters: noFilters,
    }),
  );
  // An empty difference is a line of comment.
  return stdout === null || /^(--.*)?\s*$/.test(stdout) ? null : stdout;
}

/** The result of `prisma migrate deploy` for the migrations that are recorded in a database, a dump of PGlite. */
export async function diagnoseHistory(dump: Blob): Promise<engineModule.DiagnoseMigrationHistoryOutput> {
  const content = await readSchema();
  const migrationsList = migrationList(await readMigrations());
  const openDump = () => PGlite.create({ dataDir: 'memory://', loadDataDir: dump });
  return withEngine(content, openDump, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters: noFilters }),
  );
}

const noFilters = { externalTables: [], externalEnums: [] };

const openEmpty = () => PGlite.create({ dataDir: 'memory://' });

async function withEngine<T>(
  schema: string,
  open: () => Promise<PGlite>,
  work: (engine: engineModule.SchemaEngine) => Promise<T>,
): Promise<T> {
  const opened: PGlite[] = [];
  const adapter = bindMigrationAwareSqlAdapterFactory(adapterOn(open, opened));
  engineClass ??= loadEngine();
  const engine = await (await engineClass).new({ datamodels: [['schema.prisma', schema]] }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    for (const database of opened) await database.close();
  }
}

function migrationList(migrations: readonly Migration[]): engineModule.MigrationList {
  return {
    baseDir: 'prisma/migrations',
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  };
}

/** A factory whose every connection is a database of its own. */
function adapterOn(open: () => Promise<PGlite>, opened: PGlite[]): SqlMigrationAwareDriverAdapterFactory {
  const connect = async (): Promise<SqlDriverAdapter> => {
    const database = await open();
    opened.push(database);
    const adapter = await new PrismaPGlite(database).connect();
    // The package's own does not wait for the script, so a migration that fails would go unnoticed.
    adapter.executeScript = async (script) => {
      await database.exec(script);
    };
    return adapter;
  };
  return { provider: 'postgres', adapterName: 'pglite-in-memory', connect, connectToShadowDb: connect };
}

/** As far as it is used here: @types/node leaves it to the types of browsers. */
const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;

interface Wasm {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: Record<string, object>): Promise<{ exports: Record<string, () => void> }>;
}

/** The package's JavaScript, with what its public types leave out. */
type Bindings = typeof engineModule & { '__wbg_set_wasm'(exports: object): void };

/** Loaded once: the package's JavaScript keeps hold of the first instance's memory. */
let engineClass: Promise<typeof engineModule.SchemaEngine> | null = null;

/** The package's entry imports its .wasm file as a module, which Node does not do: so it is put together by hand. */
async function loadEngine(): Promise<typeof engineModule.SchemaEngine> {
  const folder = dirname(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm')));
  const bindings = (await import(pathToFileURL(join(folder, 'schema_engine_bg.js')).href)) as Bindings;
  const module = await wasm.compile(await readFile(join(folder, 'schema_engine_bg.wasm')));
  const { exports } = await wasm.instantiate(module, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(exports);
  exports.__wbindgen_start?.();
  return bindings.SchemaEngine;
}
