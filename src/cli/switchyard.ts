#!/usr/bin/env node
// The program `switchyard`: the commands of npm run under one name.

const commands = {
  start: () => import('../main.ts'),
  agents: () => import('./agents.ts'),
  token: () => import('./token.ts'),
  'ip-access-list': () => import('./ip-access-list.ts'),
  maintenance: () => import('./maintenance.ts'),
  workspaces: () => import('./workspaces.ts'),
  schedules: () => import('./schedules.ts'),
} satisfies Record<string, () => Promise<unknown>>;

const [name = ''] = process.argv.slice(2);
if (Object.hasOwn(commands, name)) {
  // Each command reads its own arguments as if it had been started directly.
  process.argv.splice(2, 1);
  await commands[name as keyof typeof commands]();
} else {
  process.stderr.write(`Usage: switchyard ${Object.keys(commands).join(' | ')}\n`);
  process.exitCode = 2;
}
