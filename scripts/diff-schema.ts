import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { readMigrations } from '../src/store/migrations.ts';

type Engine = typeof import('@prisma/schema-engine-wasm').SchemaEngine;
let engine: Promise<Engine> | null = null;

// Node cannot import WebAssembly as a module, which is what the package's own entry does: its parts are put together here,
// once, since the bindings keep views of the first instance's memory.
async function loadEngine(): Promise<Engine> {
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = (await import(path)) as WebAssembly.ModuleImports & {
    __wbg_set_wasm(exports: WebAssembly.Exports): void;
    SchemaEngine: Engine;
  };
  const wasm = await WebAssembly.compile(await readFile(path.replace(/\.js$/, '.wasm')));
  const { exports } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(exports);
  (exports as { __wbindgen_start?: () => void }).__wbindgen_start?.();
  return bindings.SchemaEngine;
}

const schemaPath = new URL('../prisma/schema.prisma', import.meta.url);

/** The SQL that would bring the migrations to `prisma/schema.prisma` (or to `schema`), or null when they agree. */
export async function diffSchema(schema?: string): Promise<string | null> {
  const content = schema ?? (await readFile(schemaPath, 'utf8'));
  const shadow = new PGlite();
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(shadow));
  const files = [{ path: 'schema.prisma', content }];
  engine ??= loadEngine();
  const diff = await (await engine).new({ datamodels: [['schema.prisma', content]] }, () => undefined, adapter);
  try {
    const migrations = await readMigrations();
    const { stdout } = await diff.diff({
      from: {
        tag: 'migrations',
        baseDir: 'prisma/migrations',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout === null || /^(--.*)?\s*$/.test(stdout) ? null : stdout;
  } finally {
    diff.free();
    await shadow.close();
  }
}
