// npm run build: bundles the service into a few files. With one file per module, its start would take a third longer.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const root = import.meta.dirname;
const src = resolve(root, 'src');

/** Files that are started by their path in dist/: the service and its commands; and files that benches and tests load. */
const service = [
  'main',
  'cli/switchyard',
  'cli/token',
  'cli/ip-access-list',
  'cli/agents',
  'cli/schedules',
  'cli/maintenance',
  'cli/workspaces',
  'embedded-template',
  ...['app', 'config/config', 'store/store', 'domain/sessions/log', 'realtime/create-notifier'],
  ...['realtime/create-broadcaster', 'store/cipher', 'domain/sessions/live/draft-message'],
];

/**
 * What the service starts by its path in dist/: programs of agents' sandboxes, and threads. They are a build of their own, of
 * half a second: tests that start them need nothing else of dist/.
 */
const programs = [
  'agents/demo/main',
  'agents/sandbox/shim',
  'agents/acp/parse-thread',
  'checkpoints/restore/restore-thread',
  'checkpoints/save/save-process',
  'domain/automations/triggers/pattern-thread',
  'domain/execution/changes/mask-thread',
  'domain/execution/structured-output/check-thread',
  'domain/open-pull-requests/inert-thread',
];

/** Packages with data files beside their code, large ones that are rarely used, and one whose format cannot be bundled. */
const external = [
  '@electric-sql/pglite',
  /^@prisma\/client\/runtime\/query_compiler/,
  /^@aws-sdk\//,
  /^flydrive/,
  /^@graphql-yoga\/render-graphiql/,
  'pino',
  'pg-native',
  'jsonc-parser',
];

/** A module looks for files relative to its own position in dist/, whichever bundle contains it. */
const resolveOwnPaths = {
  name: 'resolve-own-paths',
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta')) return null;
    const builtPath = relative(src, id).replace(/\.ts$/, '.js');
    const resolved = code
      .replaceAll('import.meta.url', `new URL(${JSON.stringify(builtPath)}, builtRoot).href`)
      .replaceAll('import.meta.dirname', `ownPath(new URL(${JSON.stringify(`${dirname(builtPath)}/`)}, builtRoot))`);
    // Line numbers do not change.
    return { code: resolved, map: null };
  },
};

/** The two names that {@link resolveOwnPaths} writes. */
const intro = ({ fileName }) => {
  const up = relative(dirname(fileName), '') || '.';
  return `import { fileURLToPath as ownPath } from 'node:url';\nconst builtRoot = new URL('${up}/', import.meta.url);`;
};

/** Lists the sources that a build read in `dist/NAME.inputs`, see test/support/built.ts. */
const listInputs = (name) => ({
  name: 'list-inputs',
  generateBundle() {
    const inputs = [...this.getModuleIds()].filter((id) => id.startsWith(src)).map((id) => relative(root, id));
    const source = [...inputs, 'rolldown.config.mjs', 'package-lock.json'].join('\n');
    this.emitFile({ type: 'asset', fileName: `${name}.inputs`, source });
  },
});

/** Copies the locks of the agents' programs, which are read at their place beside the code. */
const copyLocks = {
  name: 'copy-locks',
  generateBundle() {
    const locks = 'agents/programs/locks';
    for (const agent of readdirSync(resolve(src, locks))) {
      const fileName = `${locks}/${agent}/package-lock.json`;
      this.emitFile({ type: 'asset', fileName, source: readFileSync(resolve(src, fileName)) });
    }
  },
};

const build = (name, entries, chunks) => ({
  input: Object.fromEntries(entries.map((entry) => [entry, resolve(src, `${entry}.ts`)])),
  platform: 'node',
  external,
  // Its main file is CommonJS, where every use would go through a getter.
  resolve: { alias: { graphql$: fileURLToPath(import.meta.resolve('graphql/index.mjs')) } },
  plugins: [resolveOwnPaths, listInputs(name), ...(name === 'service' ? [copyLocks] : [])],
  output: {
    dir: 'dist',
    entryFileNames: '[name].js',
    chunkFileNames: `${chunks}/[name].js`,
    sourcemap: true,
    keepNames: true,
    intro,
  },
});

const builds = {
  service: build('service', service, 'parts'),
  programs: build('programs', programs, 'parts-of-programs'),
};

// BUILD=programs builds one of them alone.
export default defineConfig(process.env.BUILD ? builds[process.env.BUILD] : Object.values(builds));
