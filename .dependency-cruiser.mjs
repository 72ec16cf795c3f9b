// The architecture diagram of docs/architecture.md as a table: each folder, and the folders that it may import besides
// itself. Imports only point down. A new folder needs a line here before it may import anything.
const mayImport = {
  'api/graphql': ['domain', 'auth', 'forges', 'http', 'providers', 'tracing'],
  'api/rest': ['domain', 'auth', 'forges', 'http', 'tracing'],
  'api/console': ['domain', 'auth', 'http'],
  // The authorization server of the command line.
  'api/oauth': ['domain', 'auth', 'http'],
  jobs: ['domain'],
  // HTTP features that all APIs share; imports none of the APIs.
  http: [],
  domain: [
    'auth',
    'agents',
    'checkpoints',
    'forges',
    'git',
    'metrics',
    'oidc',
    'providers',
    'realtime',
    'store',
    'threads',
    'tracing',
  ],
  auth: ['store', 'realtime'],
  // Agents fill directories, and hostile agents require a deletion without other imports.
  agents: ['threads', 'providers', 'git', 'checkpoints', 'store/delete-tree.ts'],
  // Saves and restores the directories of sessions in encrypted segments. Knows neither sessions nor tenants.
  checkpoints: ['threads', 'store/delete-tree.ts'],
  // Runs git for the service: mirrors and clones. Knows neither tenants' rules nor credentials.
  git: ['store/delete-tree.ts'],
  // Model providers: their addresses and keys, and requests to them.
  providers: [],
  // Forges (GitHub, GitLab, Gitea, git servers): their APIs, credentials and webhooks. Knows neither tenants nor sessions.
  forges: [],
  // Identity providers that speak OpenID Connect: their settings, and sign-ins with them. Knows neither users nor roles.
  oidc: [],
  // The metrics of a process, and the server that Prometheus reads.
  metrics: ['store'],
  // The traces of a process: their spans, and how these are sent.
  tracing: ['store'],
  realtime: [],
  store: [],
  // Backups of the database, the files and the key. Knows no rule of the domain.
  backup: ['store'],
  // Reads the environment into one typed value, before anything else is built.
  config: ['agents', 'domain'],
  // Commands for the operator: above everything else, like main.ts.
  cli: [
    'agents',
    'assembly',
    'auth',
    'backup',
    'config',
    'domain',
    'http',
    'oidc',
    'realtime',
    'store',
    'main.ts',
    'app.ts',
  ],
  // Builds the parts of a process from the configuration.
  assembly: [
    'agents',
    'api',
    'auth',
    'config',
    'domain',
    'forges',
    'http',
    'jobs',
    'metrics',
    'oidc',
    'providers',
    'realtime',
    'store',
    'tracing',
  ],
  // Worker threads with limits of time and memory: imports none of the programs that run in them.
  threads: [],
};

/** Folders that every folder may import: the catalogue of errors, and helpers of a few lines. */
const forAll = ['common'];

// Packages that only some folders may import. All others use these folders' own functions.
const drivers = [
  { packages: ['@prisma', '@electric-sql/pglite', 'pglite-prisma-adapter'], folders: ['store'] },
  { packages: ['pg'], folders: ['store', 'realtime'] },
  { packages: ['flydrive', '@aws-sdk'], folders: ['store'] },
  { packages: ['prom-client'], folders: ['metrics'] },
  { packages: ['@opentelemetry'], folders: ['tracing'] },
  { packages: ['openid-client', 'jose'], folders: ['oidc', 'cli/client'] },
  { packages: ['@agentclientprotocol/sdk', '@modelcontextprotocol/sdk'], folders: ['agents'] },
  { packages: ['@pothos', 'graphql', 'graphql-yoga', 'graphql-ws', '@graphql-yoga'], folders: ['api/graphql'] },
];

const literal = (text) => text.replaceAll('.', '\\.').replaceAll('/', '\\/');
const anyOf = (names) => `(?:${names.map(literal).join('|')})`;
const inside = (name) => (name.endsWith('.ts') ? `${literal(name)}$` : `${literal(name)}/`);

const layers = Object.entries(mayImport).map(([folder, others]) => ({
  name: `${folder}-points-down`,
  comment: `src/${folder}/ may import only ${[folder, ...others].join(', ')}: the table in .dependency-cruiser.mjs, the diagram in docs/architecture.md. Move the code down, or pass it in as a parameter.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: `^src/(?:${[folder, ...others, ...forAll].map(inside).join('|')})` },
}));

const versions = ['v1', 'v2', 'v3'].map((version) => ({
  name: `rest-${version}-is-frozen-alone`,
  comment: `A REST version is retired as a folder: rest/${version} imports no other version. Code that two versions share belongs in src/api/rest/ or in the domain.`,
  severity: 'error',
  from: { path: `^src/api/rest/${version}/` },
  to: { path: '^src/api/rest/v[0-9]+/', pathNot: `^src/api/rest/${version}/` },
}));

const packages = drivers.map((line) => ({
  name: `only-${line.folders.join('-and-')}-imports-${line.packages[0].replace('@', '')}`,
  comment: `Only ${line.folders.map((folder) => `src/${folder}/`).join(' and ')} may import ${line.packages.join(', ')}. Call a function of that folder.`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${anyOf(line.folders)}/` },
  to: { path: `(?:^|/)node_modules/(?:@types/)?${anyOf(line.packages)}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layers,
    ...versions,
    ...packages,
    {
      name: 'no-cycles',
      comment: 'These files form an import cycle. Move the code that they share into a separate file that both import.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-folder-has-a-line',
      comment:
        'This folder is not in the table of .dependency-cruiser.mjs. Add a line for it, and add it to the diagram in docs/architecture.md.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/${anyOf([...Object.keys(mayImport), ...forAll])}/` },
      to: {},
    },
    {
      name: 'common-imports-nothing',
      comment: 'Every folder imports src/common/, so its files must not import any other folder.',
      severity: 'error',
      from: { path: '^src/common/' },
      to: { path: '^src/', pathNot: '^src/common/' },
    },
    {
      name: 'execution-stands-alone',
      comment:
        'src/api/graphql/execution could be a package: it imports "graphql" and nothing of ours. Pass in what it needs.',
      severity: 'error',
      from: { path: '^src/api/graphql/execution/' },
      to: { pathNot: ['^src/api/graphql/execution/', '(?:^|/)node_modules/graphql/'] },
    },
    {
      name: 'execution-has-one-entry',
      comment: 'Import src/api/graphql/execution/index.ts: the other files of that folder are its own.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/graphql/execution/' },
      to: { path: '^src/api/graphql/execution/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'domain-runs-on-any-machine',
      comment:
        'An agent may run on another machine: the domain starts no process and opens no file or socket of this one. Use the sandbox of the run (src/agents/sandbox/driver.ts) and its files (workspaces.ts).',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: '^(?:node:)?(?:child_process|fs|fs/promises|http|https|cluster)$' },
    },
    {
      name: 'drivers-are-chosen-in-one-file',
      comment:
        'Only src/agents/sandbox/drivers.ts and commands for the operator know the drivers of this machine. Use the interfaces in driver.ts, workspaces.ts and descriptions.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/agents/sandbox/', '^src/cli/'] },
      to: { path: '^src/agents/sandbox/local/' },
    },
    {
      name: 'no-development-packages',
      comment: 'The service runs from `dependencies`: move the package there, or keep it out of src/.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: '/node_modules/@types/' },
    },
    {
      name: 'resolvable',
      comment: 'This import cannot be resolved: correct the path, or add the package with an exact version.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-tests-in-the-service',
      comment: 'src/ imports neither tests nor scripts nor benchmarks.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:test|scripts|bench)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/store/generated/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
