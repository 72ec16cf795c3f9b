import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createProcessSpool, runtimePrefix } from '../../src/agents/sandbox/local/process-spool.ts';
import { findByEnvironment, processStart } from '../../src/agents/sandbox/process-identity.ts';
import { crashOf, launchAgent, makeDirs, text } from '../support/agents.ts';

it("reports a crash inside a turn, with the agent's earlier output", async () => {
  const { agent, messages } = await launchAgent();
  await agent.open(null);
  const error = await crashOf(agent.prompt(text('say so far\ncrash')));
  expect(error.message).toBe('The agent process ended unexpectedly (exit code 1).');
  expect(error.stderrTail).toContain('told to crash');
  expect(messages()).toEqual(['so far']);
});

it('names a program that cannot be started', async () => {
  const error = await crashOf(launchAgent({ id: 'gone', command: ['no-such-program-here'] }));
  expect(error.message).toMatch(/The agent "gone" cannot be started: .*ENOENT/);
});

it('reports a program that is no agent', async () => {
  const error = await crashOf(launchAgent({ command: [process.execPath, '-e', 'process.exit(7)'] }));
  expect(error.message).toBe('The agent process ended unexpectedly (exit code 7).');
});

it('ends a turn by a cancellation', async () => {
  const { agent } = await launchAgent();
  await agent.open(null);
  const turn = agent.prompt(text('sleep 60'));
  await agent.cancel();
  await expect(turn).resolves.toEqual({ stopReason: 'cancelled' });
});

it('detects and stops an agent that hangs and ignores every signal but SIGKILL', async () => {
  const { agent, pid } = await launchAgent({ inactivityMs: 300 });
  await agent.open(null);
  const error = await crashOf(agent.prompt(text('hang')));
  expect(error.message).toBe('The agent sent nothing for 0.3 s.');
  expect(processStart(pid)).not.toBeNull();
  await agent.stop();
  expect(processStart(pid)).toBeNull();
});

it('stops an agent in the middle of a turn and leaves nothing in the spool', async () => {
  const dirs = makeDirs();
  const { agent, pid } = await launchAgent({}, { dirs });
  await agent.open(null);
  const turn = agent.prompt(text('sleep 60')).catch(() => undefined);
  expect(readdirSync(dirs.spoolDir)).toEqual([`${pid}.json`]);
  await Promise.all([agent.stop(), agent.stop()]);
  await turn;
  expect(processStart(pid)).toBeNull();
  expect(readdirSync(dirs.spoolDir)).toEqual([]);
});

it('removes at its start the runtime directories of killed runs, even of a run without a process, and no others', async () => {
  const { spoolDir } = makeDirs();
  const make = (workerId: string) => {
    const path = mkdtempSync(runtimePrefix(workerId));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  const [left, live, otherWorker] = [make(`w-${process.pid}`), make(`w-${process.pid}`), make(`other-${process.pid}`)];
  writeFileSync(join(left, 'mcp.sock'), '');
  const spool = createProcessSpool(spoolDir, `w-${process.pid}`);
  await spool.add(process.pid, 'run', { runtimeDir: live, stopCommand: [] });
  expect(await spool.reap()).toEqual([]);
  expect([left, live, otherWorker].map((path) => existsSync(path))).toEqual([false, true, true]);
});

it('removes at its start directories that are deep or without permissions, and continues after one that it cannot remove', async () => {
  const { spoolDir } = makeDirs();
  const workerId = `deep-${process.pid}`;
  const [deep, unlisted, locked] = [0, 1, 2].map(() => {
    const path = mkdtempSync(runtimePrefix(workerId));
    onTestFinished(() => void execFileSync('rm', ['-rf', path]));
    return path;
  }) as [string, string, string];
  const script = 'cd "$1"; for n in $(seq 30); do mkdir "$2"; cd "$2"; done';
  for (const path of [deep, unlisted]) execFileSync('bash', ['-c', script, 'bash', path, 'd'.repeat(200)]);
  writeFileSync(join(locked, 'file'), '');
  chmodSync(locked, 0);
  const earlier = createProcessSpool(spoolDir, workerId);
  const gone = [0, 1, 2].map(() => spawnSync('true').pid).toSorted((a, b) => (`${a}` < `${b}` ? -1 : 1));
  // The first one that is read cannot be removed.
  for (const [n, runtimeDir] of ['/dev/null/x', deep, locked].entries())
    await earlier.add(gone[n] as number, 'run', { runtimeDir, stopCommand: [] });
  const left: [string, string][] = [];
  const spool = createProcessSpool(spoolDir, workerId, { onLeft: (path, code) => left.push([path, code]) });
  expect(await spool.reap()).toEqual([]);
  expect(left).toEqual([['/dev/null/x', 'ENOTDIR']]);
  expect([deep, unlisted, locked].map((path) => existsSync(path))).toEqual([false, false, false]);
  expect(readdirSync(spoolDir)).toEqual([]);
});

it('kills at its start the processes of an earlier one, including detached ones, and no others', async () => {
  const { spoolDir } = makeDirs();
  const workerId = `reaper-${process.pid}`;
  const start = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], {
      detached: true,
      stdio: 'ignore',
      env,
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    await once(child, 'spawn');
    return { pid: child.pid as number, exited: once(child, 'exit') };
  };
  const marks = { SWITCHYARD_WORKER: workerId, SWITCHYARD_RUN: 'run' };
  const spooled = await start(marks);
  const escaped = await start({ SWITCHYARD_WORKER: workerId, SWITCHYARD_RUN: 'x' });
  const otherWorker = await start({ SWITCHYARD_WORKER: 'another' });
  const reused = await start({ SWITCHYARD_WORKER: 'another', SWITCHYARD_RUN: 'run' });
  const unmarked = await start({});
  const earlier = createProcessSpool(spoolDir, workerId);
  for (const { pid } of [spooled, reused, unmarked]) await earlier.add(pid, 'run');
  const spool = createProcessSpool(spoolDir, workerId);
  const current = await start({ SWITCHYARD_WORKER: workerId, SWITCHYARD_RUN: 'current' });
  await spool.add(current.pid, 'current');
  // The id of an ended process was reused: only the start time shows that.
  const file = join(spoolDir, `${reused.pid}.json`);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), startedAt: '1' }));
  writeFileSync(join(spoolDir, 'half.json'), '{"pid": 12');

  expect((await spool.reap()).sort()).toEqual([spooled.pid, escaped.pid].sort());
  await Promise.all([spooled.exited, escaped.exited]);
  for (const { pid } of [otherWorker, reused, unmarked, current]) expect(processStart(pid)).not.toBeNull();
  expect(readdirSync(spoolDir)).toEqual([`${current.pid}.json`]);
  expect(findByEnvironment({ SWITCHYARD_WORKER: workerId })).toEqual([current.pid]);
});
