// npm run build: the service as few files. As many as its sources and packages have, its start would take a third longer.
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const src = resolve(import.meta.dirname, 'src');

/** What is started by its path in dist/: commands, programs of agents' sandboxes, threads; and what benches and tests load. */
const entries = [
  'main',
  'cli/switchyard',
  'cli/token',
  'cli/ip-access-list',
  'cli/agents',
  'cli/schedules',
  'cli/maintenance',
  'cli/workspaces',
  'embedded-template',
  'agents/demo/main',
  'agents/sandbox/shim',
  'agents/acp/parse-thread',
  'domain/automations/triggers/pattern-thread',
  'domain/execution/structured-output/check-thread',
  ...['app', 'config/config', 'store/store', 'domain/sessions/log', 'realtime/create-notifier'],
];

/** What has files of its own beside its code, or is large and seldom wanted. */
const external = [
  '@electric-sql/pglite',
  /^@prisma\/client\/runtime\/query_compiler/,
  /^@aws-sdk\//,
  /^flydrive/,
  /^@graphql-yoga\/render-graphiql/,
  'pino',
  'pg-native',
];

/** A module of ours looks for files from where it would lie by itself in dist/, whichever file it comes to be in. */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta')) return null;
    const place = relative(src, id).replace(/\.ts$/, '.js');
    const placed = code
      .replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, builtRoot).href`)
      .replaceAll('import.meta.dirname', `ownPath(new URL(${JSON.stringify(`${dirname(place)}/`)}, builtRoot))`);
    // Each line stays where it is.
    return { code: placed, map: null };
  },
};

/** The two names that {@link ownPlaces} writes. */
const intro = ({ fileName }) => {
  const up = relative(dirname(fileName), '') || '.';
  return `import { fileURLToPath as ownPath } from 'node:url';\nconst builtRoot = new URL('${up}/', import.meta.url);`;
};

export default defineConfig({
  input: Object.fromEntries(entries.map((name) => [name, resolve(src, `${name}.ts`)])),
  platform: 'node',
  external,
  // Its main file is CommonJS, through which every use would go by a getter.
  resolve: { alias: { graphql$: fileURLToPath(import.meta.resolve('graphql/index.mjs')) } },
  plugins: [ownPlaces],
  output: {
    dir: 'dist',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name].js',
    sourcemap: true,
    keepNames: true,
    intro,
  },
});
