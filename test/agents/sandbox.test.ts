import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentCrash } from '../../src/agents/agent.ts';
import { createProcessSpool } from '../../src/agents/sandbox/local/process-spool.ts';
import { findByEnvironment, processStart } from '../../src/agents/sandbox/process-identity.ts';
import { makeDirs, openTestDrivers } from '../support/agents.ts';
import { behindGateway, providerKey, startProvider } from '../support/provider.ts';
import { launchProbe, probeCommand, sandbox, whyNoSandbox } from '../support/sandbox.ts';

const problem = await whyNoSandbox();
if (problem !== null) {
  // On CI, a silently missing half of the suite would look like success.
  if (process.env.CI) throw new Error(problem);
  process.stderr.write(`Skipping the tests of the sandbox. ${problem}\n`);
}

/** Requests a URL of the host from inside: `{failed}` if there is no connection. */
const fetchStatus = (url: string) => `return (await fetch('${url}').catch((e) => { throw e.cause })).status`;

/** A process that escapes into its own session and is identified by a variable. */
const runAway = `require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref()`;

const listing = (path: string) => `return require('fs').readdirSync('${path}')`;

describe.skipIf(problem !== null)('in a sandbox of bubblewrap', () => {
  it('an agent finds its three directories at constant paths, and is not root', async () => {
    const dirs = makeDirs();
    writeFileSync(join(dirs.workspaceDir, 'given'), 'by the host');
    const { agent, inspect: evaluate } = await launchProbe({}, { dirs });
    expect(agent.paths).toEqual({ workspace: '/workspace', home: '/home/agent', runtime: '/run/switchyard' });
    const seen = await evaluate(`
      const { readFileSync, writeFileSync } = require('fs');
      for (const directory of ['/workspace', process.env.HOME, '/run/switchyard']) writeFileSync(directory + '/made', 'inside');
      const { username, homedir, uid } = require('os').userInfo();
      return [process.cwd(), readFileSync('given', 'utf8'), username, homedir, uid === 0]`);
    expect(seen).toEqual(['/workspace', 'by the host', 'agent', '/home/agent', false]);
    for (const directory of [dirs.workspaceDir, dirs.homeDir]) {
      expect(readFileSync(join(directory, 'made'), 'utf8')).toBe('inside');
    }
  });

  it('it sees nothing else of the host: no temporary files, keys or processes, and writes nowhere else', async () => {
    const secret = join(tmpdir(), `switchyard-${randomUUID()}`);
    writeFileSync(secret, 'c4n4ry');
    onTestFinished(() => rmSync(secret));
    const { inspect: evaluate } = await launchProbe();
    expect(await evaluate(`return require('fs').readFileSync('${secret}', 'utf8')`)).toEqual({ failed: 'ENOENT' });
    expect(await evaluate(listing('/home'))).toEqual(['agent']);
    expect(await evaluate(`return require('fs').existsSync('/etc/shadow') || require('fs').existsSync('/root')`)).toBe(
      false,
    );
    const processes = await evaluate(
      `return require('fs').readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))`,
    );
    expect(processes.length).toBeLessThan(5);
    expect(await evaluate(listing(process.cwd()))).toEqual(
      expect.not.arrayContaining(['.git', 'data', '.env', 'test-results', 'docs', 'src']),
    );
    for (const readOnlyPath of ['/', '/usr', '/etc', `${process.cwd()}/dist`]) {
      expect(await evaluate(`return require('fs').writeFileSync('${readOnlyPath}/x', '')`)).toEqual({
        failed: 'EROFS',
      });
    }
  });

  it('its PATH contains no hidden directory of the host', async () => {
    const { inspect: evaluate } = await launchProbe({
      sandbox: sandbox({}),
      env: { PATH: `/nowhere/bin:${process.env.PATH}` },
    });
    const seen = await evaluate('return process.env.PATH.split(":")');
    expect(seen).toContain('/usr/bin');
    expect(seen).not.toContain('/nowhere/bin');
  });

  // Only checks the permission and never writes: a successful write would change the setting of the whole host.
  it.each(['shared', 'gateway'] as const)('it cannot write a kernel setting (network %s)', async (network) => {
    const { inspect: evaluate } = await launchProbe({ sandbox: sandbox({ network }) });
    const seen = await evaluate(`
      const { accessSync, constants, readdirSync } = require('fs');
      const writable = [];
      let count = 0;
      const walk = (folder) => {
        let entries = [];
        try { entries = readdirSync(folder, { withFileTypes: true }) } catch {}
        for (const entry of entries) {
          const path = folder + '/' + entry.name;
          if (entry.isSymbolicLink() || /^\\/proc\\/[0-9]+$/.test(path)) continue;
          count++;
          try { accessSync(path, constants.W_OK); writable.push(path) } catch {}
          if (entry.isDirectory()) walk(path);
        }
      };
      walk('/proc');
      return { writable, isThere: count > 50 }`);
    expect(seen).toEqual({ writable: [], isThere: true });
  });

  it.each(['seen by itself', 'in a shown directory'])(
    'of AGENTS_DIR, %s, it reads only its own program',
    async (where) => {
      const root = mkdtempSync(join(tmpdir(), 'switchyard-shown-'));
      onTestFinished(() => rmSync(root, { recursive: true, force: true }));
      const agentsDir = join(root, 'data', 'agent-programs');
      const at = (path: string, content = 'c4n4ry') => {
        mkdirSync(join(agentsDir, path, '..'), { recursive: true });
        writeFileSync(join(agentsDir, path), content, { mode: 0o755 });
        return join(agentsDir, path);
      };
      const program = at('own/1-a/node_modules/own/bin/it', '#!/bin/sh\nexec "$@"\n');
      const others = [
        at('other/1-a/node_modules/other/bin/it'),
        at('own/2-b/node_modules/own/bin/it'),
        at('own/current.json'),
      ];
      const readOnly = where === 'seen by itself' ? [] : [root];
      const { inspect: evaluate } = await launchProbe(
        { command: [program, ...probeCommand()], sandbox: sandbox({ readOnly }) },
        { hidden: [join(root, 'data'), agentsDir] },
      );
      const seen = await evaluate(`
      const { existsSync, readdirSync, writeFileSync, symlinkSync, unlinkSync } = require('fs');
      const attempt = (act) => { try { act(); return 'done'; } catch ({ code }) { return code; } };
      return [${JSON.stringify(others)}.map((path) => existsSync(path)), readdirSync('${agentsDir}'),
        attempt(() => writeFileSync('${program}', 'mine')), attempt(() => unlinkSync('${program}')),
        attempt(() => symlinkSync('/tmp', '${join(agentsDir, 'planted')}')),
        attempt(() => writeFileSync('${join(agentsDir, 'own/current.json')}', '{}'))]`);
      expect(seen.slice(0, 2)).toEqual([[false, false, false], ['own']]);
      // Files beside the program are written to its own temporary directory.
      for (const code of seen.slice(2, 4)) expect(code).toMatch(/EROFS|EACCES|EBUSY|EPERM/);
      expect(readFileSync(program, 'utf8')).toBe('#!/bin/sh\nexec "$@"\n');
      expect(existsSync(join(agentsDir, 'planted'))).toBe(false);
      expect(readFileSync(join(agentsDir, 'own/current.json'), 'utf8')).toBe('c4n4ry');
    },
  );

  it('hidden paths stay hidden inside shown ones, and it cannot remove the cover', async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-shown-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [hidden, file, inside] = [join(root, 'data'), join(root, 'agents.json'), join(root, 'data', 'tools')];
    mkdirSync(inside, { recursive: true });
    for (const path of [join(root, 'plain'), join(hidden, 'secret.key'), file, join(inside, 'tool')])
      writeFileSync(path, 'c4n4ry');
    const profile = { sandbox: sandbox({ readOnly: [root, inside, join(root, 'not-there')] }) };
    const { inspect: evaluate } = await launchProbe(profile, { hidden: [hidden, file] });
    expect((await evaluate(listing(root))).sort()).toEqual(['agents.json', 'data', 'plain']);
    expect(await evaluate(listing(hidden))).toEqual(['tools']);
    expect(await evaluate(listing(inside))).toEqual(['tool']);
    expect(await evaluate(`return require('fs').readFileSync('${file}', 'utf8')`)).toEqual({ failed: 'EACCES' });
    const unmount = (command: string) =>
      evaluate(`return require('child_process').spawnSync('sh', ['-c', ${JSON.stringify(command)}]).status`);
    expect(await unmount(`umount -l ${hidden}`)).not.toBe(0);
    expect(await unmount(`unshare -Ur -m umount -l ${hidden}`)).not.toBe(0);
    expect(await evaluate(listing(hidden))).toEqual(['tools']);
  });

  it('its variables are not in its command line, which everybody on the host may read', async () => {
    const { pid, inspect: evaluate } = await launchProbe({}, { env: { TOKEN: 'c4n4ry-value' } });
    expect(await evaluate('return process.env.TOKEN')).toBe('c4n4ry-value');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('probe-agent.mjs');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('c4n4ry');
  });

  it('with a shared network it reaches what the host reaches', async () => {
    const { url } = await startProvider({ body: '{}' });
    const { inspect: evaluate } = await launchProbe();
    expect(await evaluate(fetchStatus(url))).toBe(200);
  });

  it('with the gateway, no other address is reachable, and it has no provider’s key', async () => {
    const body = JSON.stringify({ usage: { prompt_tokens: 5, completion_tokens: 2 } });
    const provider = await startProvider({ body });
    const everywhere = createServer((_, answer) => void answer.end()).listen(0, '0.0.0.0');
    await once(everywhere, 'listening');
    onTestFinished(() => void everywhere.close());
    const { port } = everywhere.address() as AddressInfo;
    const { inspect: evaluate, next } = await launchProbe(
      {
        sandbox: sandbox({ network: 'gateway' }),
        provider: behindGateway(provider.url),
        env: { MODEL_KEY: providerKey },
      },
      { env: { MODEL_KEY: `${providerKey}-of-a-secret` } },
    );
    const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
    const addresses = ['127.0.0.1', ...own.filter((address) => address.includes('.')), '169.254.169.254', '1.1.1.1'];
    for (const address of addresses) {
      const { failed } = await evaluate(fetchStatus(`http://${address}:${port}`));
      expect(['ENETUNREACH', 'ECONNREFUSED']).toContain(failed);
    }
    expect(await evaluate(fetchStatus('http://example.com'))).toEqual({ failed: 'EAI_AGAIN' });
    expect(await evaluate(`return Object.keys(require('os').networkInterfaces())`)).toEqual(['lo']);
    expect(await evaluate(listing('/run/switchyard'))).toEqual(['llm.sock']);

    const answer = await evaluate(`
      const { url, key } = JSON.parse(process.env.MODEL_CONFIG);
      const headers = { authorization: 'Bearer ' + key };
      const answer = await fetch(url + '/chat/completions', { method: 'POST', body: '{}', headers });
      return answer.json()`);
    expect(answer).toEqual(JSON.parse(body));
    expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${providerKey}`);
    expect(await next('usage')).toMatchObject({ source: 'gateway', inputTokens: 5, outputTokens: 2 });
    const environments = await evaluate(`
      const { readdirSync, readFileSync } = require('fs');
      return readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
        try { return readFileSync('/proc/' + pid + '/environ', 'utf8') } catch { return '' }
      }).join()`);
    expect(environments).toContain('MODEL_URL=http://127.0.0.1:');
    expect(environments).not.toContain('c4n4ry');
    expect(environments).not.toContain('MODEL_KEY');
  });

  it('without a provider it has no network access', async () => {
    const { inspect: evaluate } = await launchProbe({ sandbox: sandbox({ network: 'gateway' }) });
    expect(await evaluate(listing('/run/switchyard'))).toEqual([]);
    expect(await evaluate(fetchStatus('http://127.0.0.1:47001'))).toEqual({ failed: 'ECONNREFUSED' });
  });

  it.each(['shared', 'gateway'] as const)('a kill ends the complete process tree (network %s)', async (network) => {
    const mark = { PROBE: randomUUID() };
    const provider = behindGateway('http://127.0.0.1:9');
    const { pid, inspect: evaluate } = await launchProbe({ sandbox: sandbox({ network }), provider }, { env: mark });
    await evaluate(runAway);
    const names = findByEnvironment(mark).map((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
    expect(names).toEqual(expect.arrayContaining(['bwrap', 'node', 'sleep']));
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(findByEnvironment(mark)).toEqual([]), { timeout: 60_000 });
  });

  it.each(['shared', 'gateway'] as const)('it gets SIGTERM before SIGKILL (network %s)', async (network) => {
    const mark = { PROBE: randomUUID() };
    const provider = behindGateway('http://127.0.0.1:9');
    const probe = await launchProbe({ sandbox: sandbox({ network }), provider }, { env: mark });
    await probe.inspect(runAway);
    await probe.agent.stop();
    expect(existsSync(join(probe.workspaceDir, 'terminated'))).toBe(true);
    expect(findByEnvironment(mark)).toEqual([]);
  });

  it('its end is reported like without a sandbox', async () => {
    const { pid, inspect: evaluate } = await launchProbe();
    const crash = await evaluate(`process.kill(process.pid, 'SIGKILL'); await new Promise(() => undefined)`).catch(
      (e) => e,
    );
    expect(crash).toBeInstanceOf(AgentCrash);
    expect(crash.message).toBe('The agent process ended unexpectedly (signal SIGKILL).');
    expect(processStart(pid)).toBeNull();
  });

  it('a missing program is reported like without a sandbox', async () => {
    const crash = await launchProbe({ id: 'gone', command: ['no-such-program'] }).catch((error) => error);
    expect(crash).toBeInstanceOf(AgentCrash);
    expect(crash).toMatchObject({ reason: 'program' });
    expect(crash.message).toBe('The agent "gone" cannot be started: spawn no-such-program ENOENT.');
  });

  it('a program that was installed with its packages works, also through a link', async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-installed-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const packages = join(root, 'lib', 'node_modules');
    for (const name of ['agent', 'its-part']) mkdirSync(join(packages, name), { recursive: true });
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'private'), 'c4n4ry');
    writeFileSync(join(packages, 'its-part', 'index.js'), `module.exports = 7`);
    writeFileSync(
      join(packages, 'agent', 'main.js'),
      `#!/usr/bin/env node\nprocess.exit(require('its-part') + require('fs').existsSync('${root}/private'))`,
      { mode: 0o755 },
    );
    const link = join(root, 'bin', 'an-agent');
    spawnSync('ln', ['-s', '../lib/node_modules/agent/main.js', link]);
    const crash = await launchProbe({ command: [link] }).catch((error) => error);
    expect(crash.message).toBe('The agent process ended unexpectedly (exit code 7).');
  });
});

it('an agent without a sandbox has a gateway too', async () => {
  const provider = await startProvider({ body: '{}' });
  const {
    inspect: evaluate,
    next,
    agent,
    workspaceDir,
  } = await launchProbe({
    sandbox: sandbox({ driver: 'none' }),
    provider: behindGateway(provider.url),
    env: { MODEL_KEY: providerKey },
  });
  expect(agent.paths.workspace).toBe(workspaceDir);
  const status = await evaluate(`
    const { url, key } = JSON.parse(process.env.MODEL_CONFIG);
    return (await fetch(url + '/models', { headers: { authorization: 'Bearer ' + key } })).status`);
  expect(status).toBe(200);
  expect(await evaluate('return process.env.MODEL_KEY')).toBeNull();
  await evaluate(`
    const { url, key } = JSON.parse(process.env.MODEL_CONFIG);
    await fetch(url + '/responses', { method: 'POST', body: '{}', headers: { authorization: 'Bearer ' + key } })`);
  expect(await next('usage')).toMatchObject({ source: 'gateway', llmCalls: 1, inputTokens: null });
});

it('the operator’s command starts an agent with its directories and variables, and is notified of its end', async () => {
  const command = ['env', 'SEEN_{env}=yes', 'ID={id}', 'DIR={workspace}'];
  const stopCommand = ['sh', '-c', 'echo ended > {workspace}/{id}'];
  const {
    inspect: evaluate,
    agent,
    workspaceDir,
  } = await launchProbe(
    { sandbox: sandbox({ driver: 'command', command, stopCommand }) },
    { env: { TOKEN: 'c4n4ry' } },
  );
  const seen = await evaluate('const { env } = process; return [env.SEEN_TOKEN, env.SEEN_PATH, env.DIR, env.ID]');
  expect(seen.slice(0, 3)).toEqual(['yes', null, workspaceDir]);
  await agent.stop();
  expect(readFileSync(join(workspaceDir, seen[3]), 'utf8')).toBe('ended\n');
});

it('without bubblewrap, agents run without a sandbox and the log has a warning, unless one is required', async () => {
  const warned: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void warned.push(fields) };
  const options = { path: '/nowhere', log, dirs: makeDirs() };
  expect(await openTestDrivers({ ...options, choice: 'auto' })).toMatchObject({ defaultName: 'none' });
  const cause = 'there is no program "bwrap" in PATH (install bubblewrap, on Linux)';
  expect(warned).toEqual([{ problem: cause }]);
  await expect(openTestDrivers({ ...options, choice: 'bwrap' })).rejects.toThrow(
    `SANDBOX is "bwrap", and that does not work: ${cause}`,
  );
  const drivers = await openTestDrivers({ ...options, choice: 'auto' });
  const crash = await launchProbe({ id: 'walled' }, { drivers }).catch((error) => error);
  expect(crash).toMatchObject({ reason: 'program' });
  expect(crash.message).toBe(
    `The agent "walled" cannot be started: its sandbox needs bubblewrap, which does not work: ${cause}.`,
  );
});

it('the directories and processes of an agent that outlived its worker are removed, even after the agent ended', async () => {
  const { spoolDir, runtimeDir, workspaceDir } = makeDirs();
  const gone = spawnSync('true').pid;
  const stopCommand = ['sh', '-c', `echo "$WHERE" > ${workspaceDir}/ended`];
  await createProcessSpool(spoolDir, 'earlier').add(gone, 'run', { runtimeDir, stopCommand });
  const baseEnv = { PATH: process.env.PATH ?? '', WHERE: 'here' };
  expect(await createProcessSpool(spoolDir, 'earlier', { baseEnv }).reap()).toEqual([]);
  expect(existsSync(runtimeDir)).toBe(false);
  expect(readFileSync(join(workspaceDir, 'ended'), 'utf8')).toBe('here\n');
});
