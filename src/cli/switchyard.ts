#!/usr/bin/env node
// The program `switchyard`: starts the service, or runs one of its commands. It loads them after the check of the version of
// Node.js: an older one would fail with a syntax error in one of their packages.
import { readFileSync } from 'node:fs';

const commands = {
  start: () => import('../main.ts'),
  doctor: () => import('./doctor.ts'),
  agents: () => import('./agents.ts'),
  token: () => import('./token.ts'),
  'ip-access-list': () => import('./ip-access-list.ts'),
  maintenance: () => import('./maintenance.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  upgrade: () => import('./upgrade.ts'),
  workspaces: () => import('./workspaces.ts'),
  schedules: () => import('./schedules.ts'),
  audit: () => import('./audit.ts'),
  login: () => import('./login.ts'),
  logout: () => import('./logout.ts'),
  whoami: () => import('./whoami.ts'),
  api: () => import('./api.ts'),
} satisfies Record<string, () => Promise<unknown>>;

const usage = `Usage: switchyard [COMMAND] [ARGUMENTS]

Commands on the host of a service:
  start            start the service (the default); --maintenance: in maintenance mode
  doctor           check what the service needs on this host, and write a bundle for support
  agents           list, install, update, remove and check agents
  token            create an administrator's token
  ip-access-list   show and change the addresses from which keys may be used
  maintenance      show and end maintenance mode
  backup           back up the database, the files and the key, and verify a backup
  restore          restore a backup into an empty database
  upgrade          apply the migrations of this version without starting it, or check what they would do
  workspaces       list, delete and adopt the workspaces in DATA_DIR
  schedules        move an organization from schedules to automations, and back
  audit            verify exports of the audit log

Commands for users of a service, from any computer:
  login            sign in to a service
  logout           revoke the token of the sign-in
  whoami           say as whom you are signed in
  api              send a request to the service

"switchyard help COMMAND" explains one of them.

Options:
  -h, --help       show this text
  -v, --version    show the version

Environment variables change the settings, for example PORT, DATA_DIR and DATABASE_URL: see docs/operations.md. Commands for users
read SWITCHYARD_URL and SWITCHYARD_TOKEN: see docs/sign-on.md.
`;

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** Tells if a version of Node.js, such as `20.19.1`, has at least the version of package.json. */
function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = manifest.engines.node.replace('>=', '').split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

async function run([first, ...others]: readonly string[]): Promise<void> {
  const isOption = first === undefined || first.startsWith('-');
  const isHelp = first === 'help' && others.length > 0;
  const [name, args] = isOption
    ? ['start', first === undefined ? [] : [first, ...others]]
    : isHelp
      ? [others[0] ?? '', ['--help']]
      : [first, others];
  const hasOption = (long: string, short: string) =>
    name === 'start' && args.some((arg) => arg === long || arg === short);
  if (name === 'help' || hasOption('--help', '-h')) process.stdout.write(usage);
  else if (hasOption('--version', '-v')) process.stdout.write(`${manifest.version}\n`);
  else if (!Object.hasOwn(commands, name)) {
    process.stderr.write(`There is no command "${name}".\n\n${usage}`);
    process.exitCode = 2;
  } else {
    // Each command reads its own arguments as if it had been started directly.
    process.argv.splice(2, process.argv.length, ...args);
    await commands[name as keyof typeof commands]();
  }
}

if (isSupported(process.versions.node)) await run(process.argv.slice(2));
else {
  const needed = manifest.engines.node.replace('>=', '');
  process.stderr.write(`Switchyard needs Node.js ${needed} or newer, but this is ${process.versions.node}.\n`);
  process.exitCode = 1;
}
