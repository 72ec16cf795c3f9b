import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/agents/gateway/gateway.ts';
import { pipeCommand } from '../../src/agents/reporting/pipe.ts';
import type { Sandbox, SandboxDriver, SandboxProcess } from '../../src/agents/sandbox/driver.ts';
import type { SandboxSettings } from '../../src/agents/sandbox/settings.ts';
import { gatewayOf, providerKey, startProvider } from './provider.ts';
import { collect } from './remote-machine.ts';
import { testSavedWorkspaces } from './saved-workspace-conformance.ts';
import { streamService } from './stream-service.ts';

/** A driver whose conformance is tested. */
export interface TestedDriver {
  readonly settings: SandboxSettings | null;
  /** Opens the driver for one test, which ends it. */
  open(): Promise<SandboxDriver>;
}

const graces = { stdinMs: 2_000, termMs: 2_000 };
const sessionId = 'c0ffee'.padEnd(32, '0');

/** The rules of the interface SandboxDriver, which do not mention any path or process of this host. */
export function testDriver(name: string, { settings, open }: TestedDriver): void {
  const openSandbox = async (isNew = false): Promise<{ driver: SandboxDriver; sandbox: Sandbox }> => {
    const driver = await open();
    return { driver, sandbox: await reopen(driver, isNew) };
  };
  const reopen = async (driver: SandboxDriver, isNew = false) => {
    const sandbox = await driver.open({ sessionId, settings, isNew });
    onTestFinished(() => sandbox.close());
    return sandbox;
  };
  /** Starts a program of Node.js, which has `fs`. */
  const run = async (sandbox: Sandbox, program: string, env: Record<string, string> = {}): Promise<SandboxProcess> => {
    const command = [sandbox.nodeProgram, '-e', `const fs = require('fs');\n${program}`];
    const process = await sandbox.start({ command, env });
    onTestFinished(() => process.stop({ stdinMs: 0, termMs: 0 }));
    return process;
  };
  /** Runs a program to its end, and returns the value that it writes as JSON. */
  const evaluate = async (sandbox: Sandbox, expression: string, env: Record<string, string> = {}): Promise<any> => {
    const process = await run(
      sandbox,
      `(async () => ${expression})().then(
      (value) => console.log(JSON.stringify(value ?? null)), (error) => console.log(JSON.stringify({ failed: error.code ?? String(error) })))`,
      env,
    );
    const [output, errors] = await Promise.all([text(process.stdout), text(process.stderr)]);
    if (output === '') throw new Error(errors);
    return JSON.parse(output);
  };
  /** Makes a service for streams reachable, and returns the first connection to it. */
  const reachStream = async (sandbox: Sandbox, onConnection: (socket: Socket) => void) => {
    const { address, listening } = await sandbox.reach(streamService(onConnection));
    onTestFinished(() => listening.close());
    return address;
  };

  describe(`the driver ${name}`, () => {
    it('starts a process in the workspace, with its variables and a home', async () => {
      const { sandbox } = await openSandbox();
      const seen = await evaluate(
        sandbox,
        '[process.cwd(), process.env.HOME, process.env.TOKEN, fs.existsSync(process.env.DIR)]',
        {
          TOKEN: 'a\nb',
          DIR: sandbox.paths.runtime,
        },
      );
      expect(seen).toEqual([sandbox.paths.workspace, sandbox.paths.home, 'a\nb', true]);
    });

    it('rejects a program that does not exist, with the code of the system', async () => {
      const { sandbox } = await openSandbox();
      // A command of the operator starts first, and reports the missing program by its exit.
      const started = sandbox.start({ command: ['no-such-program'], env: {} });
      if (settings?.driver === 'command') {
        const process = await started;
        expect(await process.exited).toMatchObject({ code: 127, signal: null });
        await process.stop(graces);
      } else await expect(started).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('carries stdin, stdout and stderr completely, in any amount', async () => {
      const { sandbox } = await openSandbox();
      const process = await run(sandbox, 'process.stdin.pipe(process.stdout); process.stderr.write("beside")');
      const sent = Buffer.alloc(3_000_000, 'abcdefghij\n');
      process.stdin.end(sent);
      const [output, errors] = await Promise.all([text(process.stdout), text(process.stderr)]);
      expect(output === sent.toString()).toBe(true);
      expect(errors).toBe('beside');
      expect(await process.exited).toEqual({ code: 0, signal: null, reason: null });
    });

    it('keeps the output of a process that has ended until it is read', async () => {
      const { sandbox } = await openSandbox();
      const process = await run(sandbox, 'fs.writeSync(1, "out"); fs.writeSync(2, "err")');
      await process.exited;
      expect([await text(process.stdout), await text(process.stderr)]).toEqual(['out', 'err']);
    });

    it.each([
      ['process.exit(7)', { code: 7, signal: null, reason: null }],
      ['process.kill(process.pid, "SIGKILL")', { code: null, signal: 'SIGKILL', reason: null }],
    ])('reports the end by %s', async (program, exit) => {
      const { sandbox } = await openSandbox();
      const process = await run(sandbox, program);
      expect(await process.exited).toEqual(exit);
    });

    it('kills a process at once', async () => {
      const { sandbox } = await openSandbox();
      const process = await run(
        sandbox,
        'process.on("SIGTERM", () => 0); setInterval(() => 0, 1000); console.log("up")',
      );
      await once(process.stdout, 'data');
      process.kill();
      expect(await process.exited).toMatchObject({ signal: 'SIGKILL' });
    });

    it('stops a process by the end of stdin, then SIGTERM, then SIGKILL', async () => {
      const { sandbox } = await openSandbox();
      const programs = [
        'process.stdin.resume().on("end", () => process.exit(3)); console.log("up")',
        'process.on("SIGTERM", () => process.exit(4)); setInterval(() => 0, 1000); console.log("up")',
        'process.on("SIGTERM", () => 0); setInterval(() => 0, 1000); console.log("up")',
      ];
      const exits: unknown[] = [];
      for (const program of programs) {
        const process = await run(sandbox, program);
        await once(process.stdout, 'data');
        await process.stop({
          stdinMs: program.includes('stdin') ? 10_000 : 50,
          termMs: program.includes('exit') ? 10_000 : 50,
        });
        exits.push(await process.exited);
      }
      expect(exits).toMatchObject([{ code: 3 }, { code: 4 }, { signal: 'SIGKILL' }]);
    });

    it('ends all descendants of a process, also those in other sessions, even if the process has ended', async () => {
      const { sandbox } = await openSandbox();
      const arrived = deferred<Socket>();
      const address = await reachStream(sandbox, arrived.resolve);
      const inner = JSON.stringify(`require('net').connect(${JSON.stringify(address)}); setInterval(() => 0, 1000)`);
      const process = await run(
        sandbox,
        `require('child_process').spawn(process.execPath, ['-e', ${inner}], { detached: true, stdio: 'ignore' }).unref();
         process.stdin.resume().on('end', () => process.exit(0))`,
      );
      const socket = await arrived.promise;
      const gone = once(socket.resume(), 'close');
      await process.stop(graces);
      await gone;
      expect(await process.exited).toMatchObject({ code: 0 });
    });

    it('writes, lists and reads files that processes see, and reads theirs', async () => {
      const { sandbox } = await openSandbox();
      const { files } = sandbox;
      await files.inDirectory(['given', 'deep'], async (directory) => {
        await directory.write('a.txt', 'first');
        await directory.write('a.txt', 'second', 0o644);
        await directory.write('b.txt', 'gone soon');
        await directory.remove('b.txt');
        expect([await directory.hasFile('a.txt'), await directory.hasFile('b.txt')]).toEqual([true, false]);
        const names: string[] = [];
        for await (const each of directory.names()) names.push(each);
        expect(names).toEqual(['a.txt']);
      });
      const made =
        'fs.mkdirSync("out/sub", { recursive: true }), fs.writeFileSync("out/sub/x", "X".repeat(100000)), fs.writeFileSync("out/y", "")';
      expect(await evaluate(sandbox, `(${made}, fs.readFileSync("given/deep/a.txt", "utf8"))`)).toBe('second');
      const { files: found, isCut } = await files.list(['out'], { maxDepth: 2, maxNames: 10 });
      expect(found.map(({ path, size, isLink }) => [path, size, isLink])).toEqual([
        ['sub/x', 100_000, false],
        ['y', 0, false],
      ]);
      expect(isCut).toBe(false);
      expect((await files.list(['out'], { maxDepth: 2, maxNames: 1 })).isCut).toBe(true);
      const content = await files.read('out/sub/x');
      expect(content !== null && (await text(content)) === 'X'.repeat(100_000)).toBe(true);
      const before = await files.stat('out/y');
      await evaluate(sandbox, 'fs.writeFileSync("out/y", "changed")');
      expect(await files.stat('out/y')).toMatchObject({ size: 7 });
      expect((await files.stat('out/y'))?.version).not.toBe(before?.version);
      expect([await files.stat('none'), await files.read('none'), await files.stat('out')]).toEqual([null, null, null]);
      expect(await files.empty(['out'], Date.now() + 3_600_000)).toBe(1);
      expect((await files.list(['out'], { maxDepth: 2, maxNames: 10 })).files.map(({ path }) => path)).toEqual([
        'sub/x',
      ]);
      expect(await files.list(['none'], { maxDepth: 1, maxNames: 1 })).toEqual({ files: [], isCut: false });
    });

    it('does not leave the workspace by a link, a pipe or a name that a process has made', async () => {
      const { sandbox } = await openSandbox();
      const { files } = sandbox;
      const made = await evaluate(
        sandbox,
        `(fs.writeFileSync(process.env.HOME + '/private', 'outside'), fs.writeFileSync('inside', 'inside'), fs.mkdirSync('out'),
          fs.symlinkSync('/etc/passwd', 'out/passwd'), fs.symlinkSync(process.env.HOME + '/private', 'out/private'),
          fs.symlinkSync('../inside', 'out/good'), fs.symlinkSync('nowhere', 'out/broken'),
          fs.symlinkSync(process.env.HOME, 'home'), fs.symlinkSync(process.env.HOME, '.session'),
          require('child_process').spawnSync('mkfifo', ['out/fifo']).status)`,
      );
      expect(made).toBe(0);
      const hostile = [
        'out/passwd',
        'out/private',
        'out/broken',
        'out/fifo',
        'home/private',
        '../home/private',
        '/etc/passwd',
        'a\0b',
        '.',
      ];
      for (const path of hostile)
        expect([path, await files.stat(path), await files.read(path)]).toEqual([path, null, null]);
      const good = await files.read('out/good');
      expect(good && (await text(good))).toBe('inside');
      expect((await files.list(['home'], { maxDepth: 3, maxNames: 10 })).files).toEqual([]);
      const listed = (await files.list(['out'], { maxDepth: 3, maxNames: 10 })).files;
      expect(listed.map(({ path, isLink }) => [path, isLink])).toEqual(
        ['broken', 'good', 'passwd', 'private'].map((each) => [each, true]),
      );
      expect(await files.empty(['home'], Number.MAX_SAFE_INTEGER)).toBe(0);
      // Links with the names of a directory and of a file are replaced.
      await files.inDirectory(['.session'], (directory) => directory.write('private', 'service'));
      await files.inDirectory(['out'], (directory) => directory.write('private', 'service'));
      for (const wrong of ['..', '.', '', 'a/b', 'a\0b'])
        await expect(files.inDirectory(['out'], (directory) => directory.write(wrong, 'x'))).rejects.toThrow(
          'name of a file',
        );
      const seen = `[fs.readFileSync(process.env.HOME + '/private', 'utf8'), fs.readFileSync('.session/private', 'utf8'), fs.readFileSync('out/private', 'utf8')]`;
      expect(await evaluate(sandbox, seen)).toEqual(['outside', 'service', 'service']);
    });

    it('handles names that are not UTF-8', async () => {
      const { sandbox } = await openSandbox();
      const { files } = sandbox;
      // As UTF-8, the replacement characters of the long name would have more bytes than a name may have.
      const make = `(fs.mkdirSync('bad', { recursive: true }), [Buffer.from('good'), Buffer.from([0x61, 0xff]), Buffer.alloc(255, 0xff)]
          .forEach((name) => fs.writeFileSync(Buffer.concat([Buffer.from('bad/'), name]), 'x')))`;
      const left = `fs.readdirSync('bad', 'hex')`;
      await evaluate(sandbox, make);
      expect((await files.list(['bad'], { maxDepth: 1, maxNames: 10 })).files).toMatchObject([{ path: 'good' }]);
      await files.inDirectory(['bad'], async (directory) => {
        for await (const name of directory.names()) await directory.remove(name);
      });
      expect(await evaluate(sandbox, left)).toEqual(expect.arrayContaining(['61ff', 'ff'.repeat(255)]));
      await evaluate(sandbox, make);
      expect(await files.empty(['bad'], Number.MAX_SAFE_INTEGER)).toBe(3);
      expect(await evaluate(sandbox, left)).toEqual([]);
    });

    it('writes files of a run, follows no link there, and removes them at the end', async () => {
      const { driver, sandbox } = await openSandbox();
      await sandbox.writeRunFile('config', 'one');
      const file = `${sandbox.paths.runtime}/config`;
      const read = `fs.readFileSync(${JSON.stringify(file)}, 'utf8')`;
      expect(await evaluate(sandbox, read)).toBe('one');
      await evaluate(
        sandbox,
        `(fs.writeFileSync('victim', 'kept'), fs.rmSync(${JSON.stringify(file)}), fs.symlinkSync(process.cwd() + '/victim', ${JSON.stringify(file)}))`,
      );
      await sandbox.writeRunFile('config', 'two');
      expect(await evaluate(sandbox, `[${read}, fs.readFileSync('victim', 'utf8')]`)).toEqual(['two', 'kept']);
      await sandbox.close();
      const next = await reopen(driver);
      expect(await evaluate(next, `fs.existsSync(${JSON.stringify(`${next.paths.runtime}/config`)})`)).toBe(false);
    });

    it('connects a process to the gateway of its model, and to a stream', async () => {
      const { sandbox } = await openSandbox();
      const provider = await startProvider({
        body: JSON.stringify({ usage: { prompt_tokens: 5, completion_tokens: 2 } }),
      });
      const usages: unknown[] = [];
      const { address, listening: gateway } = await sandbox.reach({
        name: 'llm',
        protocol: 'http',
        listen: (socketPath) =>
          openGateway({
            ...gatewayOf(provider.url),
            socketPath,
            onUsage: (usage) => void usages.push(usage),
          }),
      });
      onTestFinished(() => gateway.close());
      const fetched = await evaluate(
        sandbox,
        `(await fetch(process.env.URL + '/chat/completions', { method: 'POST', body: '{}', headers: { authorization: 'Bearer ' + process.env.KEY } })).status`,
        { URL: address, KEY: gateway.key },
      );
      expect(fetched).toBe(200);
      expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${providerKey}`);
      await gateway.close();
      expect(usages).toMatchObject([{ inputTokens: 5, outputTokens: 2 }]);

      const socketPath = await reachStream(sandbox, (socket) => void socket.pipe(socket));
      const { command, args } = pipeCommand(sandbox.nodeProgram, socketPath);
      const pipe = await sandbox.start({ command: [command, ...args], env: {} });
      onTestFinished(() => pipe.stop(graces));
      pipe.stdin.write('echo\n');
      expect(String((await once(pipe.stdout, 'data'))[0])).toBe('echo\n');
    });

    it('keeps workspace, home and records until they are discarded', async () => {
      const { driver, sandbox } = await openSandbox();
      const { workspaces } = driver;
      await evaluate(
        sandbox,
        `(fs.writeFileSync('a', 'x'.repeat(5000)), fs.writeFileSync(process.env.HOME + '/b', ''))`,
      );
      await sandbox.files.writeRecord('record.json', 'one');
      await sandbox.files.writeRecord('record.json', 'two');
      await sandbox.files.writeLocalRecord('record.json', 'local');
      await sandbox.close();
      const look = `[fs.existsSync('a'), fs.existsSync(process.env.HOME + '/b'), fs.existsSync('../record.json')]`;
      const again = await reopen(driver);
      expect((await evaluate(again, look)).slice(0, 2)).toEqual([true, true]);
      expect([await again.files.readRecord('record.json'), await again.files.readRecord('none')]).toEqual([
        'two',
        null,
      ]);
      expect(await again.files.readLocalRecord('record.json')).toBe('local');
      expect(await evaluate(again, `fs.readdirSync('.')`)).not.toContain('record.json');
      expect(await collect(workspaces.ids())).toContain(sessionId);
      expect([await workspaces.has(sessionId), await workspaces.has('0'.repeat(32))]).toEqual([true, false]);
      expect(await workspaces.sizeOf(sessionId)).toBeGreaterThan(4_096);
      expect(await workspaces.isUntouchedSince(sessionId, new Date(Date.now() + 60_000))).toBe(true);
      expect(await workspaces.isUntouchedSince(sessionId, new Date(0))).toBe(false);
      await again.close();
      // Without waiting: a sandbox that is opened after a discard is new.
      const discarded = workspaces.discard(sessionId);
      const fresh = await reopen(driver);
      const wasThere = await discarded;
      expect(wasThere).toBe(true);
      expect((await evaluate(fresh, look)).slice(0, 2)).toEqual([false, false]);
      expect((await workspaces.deleteDiscarded(() => false)).problems).toEqual([]);
      await evaluate(fresh, `fs.writeFileSync('a', '')`);
      await fresh.close();
      expect((await evaluate(await reopen(driver, true), look)).slice(0, 2)).toEqual([false, false]);
      expect(await workspaces.discard('0'.repeat(32))).toBe(false);
      expect(await workspaces.readOwner()).toBeNull();
      await workspaces.recordOwner('the-enterprise');
      expect(await workspaces.readOwner()).toBe('the-enterprise');
    });

    testSavedWorkspaces({ sessionId, openSandbox, reopen, evaluate });

    it('isolates agents as strictly as it reports', async () => {
      const { driver, sandbox } = await openSandbox();
      const strictness = driver.strictness(settings);
      const canary = join(tmpdir(), `switchyard-canary-${process.pid}`);
      writeFileSync(canary, 'c4n4ry');
      const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const { port } = server.address() as { port: number };
      const seen = await evaluate(
        sandbox,
        `({
          file: fs.existsSync(${JSON.stringify(canary)}),
          process: (() => { try { process.kill(${process.pid}, 0); return true } catch { return false } })()
            && fs.readFileSync('/proc/${process.pid}/cmdline', 'utf8').includes('vitest'),
          network: await new Promise((resolve) => require('net').connect(${port}, '127.0.0.1')
            .on('connect', () => resolve(true)).on('error', () => resolve(false))),
          full: (() => { try { fs.writeFileSync('/tmp/big', Buffer.alloc(3 << 20)); return false } catch (error) { return error.code } })(),
        })`,
      );
      const isOnThisHost = existsSync('/proc/self') && driver.runsHostPrograms;
      if (strictness.files === 'isolated') expect(seen.file).toBe(false);
      if (strictness.processes === 'isolated') expect(seen.process).toBe(false);
      if (strictness.network === 'services') expect(seen.network).toBe(false);
      if (strictness.limits.includes('temporary files')) expect(seen.full).toBe('ENOSPC');
      // Nor is it stricter than it says: a description that promises too little hides a use.
      if (isOnThisHost) {
        expect(seen.file).toBe(strictness.files === 'host');
        expect(seen.process).toBe(strictness.processes === 'host');
        expect(seen.network).toBe(strictness.network === 'host');
      }
    });
  });
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
