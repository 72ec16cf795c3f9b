// npm run build: bundles the service into a few files. With one file per module, its start would take a third longer.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const root = import.meta.dirname;
const src = resolve(root, 'src');

/** Files that are started by their path in dist/: the service and its commands. */
const service = [
  'main',
  'cli/switchyard',
  'cli/token',
  'cli/ip-access-list',
  'cli/agents',
  'cli/schedules',
  'cli/audit',
  'cli/login',
  'cli/logout',
  'cli/whoami',
  'cli/api',
  'cli/maintenance',
  'cli/backup',
  'cli/restore',
  'cli/upgrade',
  'cli/workspaces',
  'cli/doctor',
];

/** Files that the build, benches and tests load; they are not part of the npm package. */
const forDevelopment = [
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

/** A package with data files beside its code: the only dependency of the npm package. */
const external = ['@electric-sql/pglite'];

/** Packages that others use if they are there. They are not dependencies of ours. */
const absent = ['pg-native', 'bufferutil', 'utf-8-validate', 'node-libcurl', '@valkey/valkey-glide'];

const packageFile = (path) => fileURLToPath(import.meta.resolve(path));

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

/** The folder of the package that a module belongs to; null for a module of ours. */
const packageFolder = (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? null;

/** The package of an import, such as `@scope/name` of `@scope/name/file`. */
const packageOf = (specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0];

/**
 * Writes `dist/NAME.parts.json` for scripts/package.ts: the files of the npm package, the packages that they import, and the
 * folders of those that they contain.
 */
const listParts = (name) => ({
  name: 'list-parts',
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
    const isShipped = ({ isEntry, name: entry }) => !(isEntry && forDevelopment.includes(entry));
    const copied = name === 'service' ? copiedFiles().map(([fileName]) => fileName) : [];
    const files = [...chunks.filter(isShipped).map(({ fileName }) => fileName), ...copied];
    const imports = chunks
      .flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
      .filter((each) => !Object.hasOwn(bundle, each) && !each.startsWith('node:') && !builtinModules.includes(each))
      .map(packageOf)
      .filter((each) => !absent.includes(each));
    const contained = [...this.getModuleIds()].flatMap((id) => packageFolder(id) ?? []).map((id) => relative(root, id));
    const unique = (values) => [...new Set(values)].sort();
    const parts = { files: unique(files), imports: unique(imports), contained: unique(contained) };
    this.emitFile({ type: 'asset', fileName: `${name}.parts.json`, source: JSON.stringify(parts, null, 2) });
  },
});

/** Files that the service reads at their place beside its code: the locks of the agents' programs, and Swagger UI. */
const copiedFiles = () => {
  const locks = readdirSync(resolve(src, 'agents/programs/locks')).map((agent) => {
    const fileName = `agents/programs/locks/${agent}/package-lock.json`;
    return [fileName, resolve(src, fileName)];
  });
  const swagger = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt'].map((fileName) => [
    `api/rest/swagger-ui/${fileName}`,
    packageFile(`swagger-ui-dist/${fileName}`),
  ]);
  return [...locks, ...swagger];
};

const copyFiles = {
  name: 'copy-files',
  generateBundle() {
    for (const [fileName, path] of copiedFiles()) {
      this.emitFile({ type: 'asset', fileName, source: readFileSync(path) });
    }
  },
};

const build = (name, entries, chunks) => ({
  input: Object.fromEntries(entries.map((entry) => [entry, resolve(src, `${entry}.ts`)])),
  platform: 'node',
  external: [...external, ...absent],
  resolve: {
    alias: {
      // Its main file is CommonJS, where every use would go through a getter.
      graphql$: packageFile('graphql/index.mjs'),
      // Its main file has a format that cannot be bundled.
      'jsonc-parser$': packageFile('jsonc-parser/lib/esm/main.js'),
    },
  },
  plugins: [resolveOwnPaths, listInputs(name), listParts(name), ...(name === 'service' ? [copyFiles] : [])],
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
  service: build('service', [...service, ...forDevelopment], 'parts'),
  programs: build('programs', programs, 'parts-of-programs'),
};

// BUILD=programs builds one of them alone.
export default defineConfig(process.env.BUILD ? builds[process.env.BUILD] : Object.values(builds));
