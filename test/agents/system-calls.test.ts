import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxDrivers } from '../../src/agents/sandbox/drivers.ts';
import { findProgram } from '../../src/agents/sandbox/program-files.ts';

import { errnos } from '../../src/agents/sandbox/seccomp/denied-arguments.ts';
import { deniedGroups } from '../../src/agents/sandbox/seccomp/denied-calls.ts';
import { compileFilter } from '../../src/agents/sandbox/seccomp/filter.ts';
import { makeDirs, openTestDrivers, type TestDirs } from '../support/agents.ts';
import { launchProbe, type Probe, sandbox, whyNoSandbox } from '../support/sandbox.ts';

const path = process.env.PATH ?? '';
const problem =
  (await whyNoSandbox()) ??
  (compileFilter(process.arch) === null ? `There is no filter of system calls for ${process.arch}.` : null) ??
  (findProgram('perl', path) === null ? 'There is no Perl, which makes the system calls.' : null);
if (problem !== null) {
  if (process.env.CI) throw new Error(problem);
  process.stderr.write(`Skipping the tests of refused system calls. ${problem}\n`);
}
const column = process.arch === 'arm64' ? 1 : 0;

/** Runs a program inside; returns its exit code and output. */
async function runIn(probe: Probe, program: string, ...args: string[]): Promise<{ status: number; output: string }> {
  const [status, output] = await probe.inspect(`
    const [program, args] = ${JSON.stringify([program, args])};
    const { status, stdout, stderr, error } = require('child_process').spawnSync(program, args, { encoding: 'utf8' });
    return [status, error ? String(error) : stdout + stderr]`);
  return { status, output };
}

/** Makes system calls inside, given by number and arguments; returns their error numbers, 0 for success. */
async function errnosOf(probe: Probe, calls: readonly (readonly number[])[]): Promise<number[]> {
  const tries = calls.map((call) => `$! = 0; push @e, (syscall(${call.join(',')}) == -1 ? $! + 0 : 0);`).join(' ');
  const { output } = await runIn(probe, 'perl', '-e', `${tries} print "@e";`);
  return output.split(' ').map(Number);
}

const numberOf = (name: string): number => {
  const numbers = deniedGroups.map(({ calls }) => calls[name]).find((each) => each !== undefined);
  const number = numbers?.[column];
  if (number == null) throw new Error(`${name} has no number here.`);
  return number;
};

// Numbers independent of the tested table: [x86_64, aarch64].
const numbers = {
  clone: [56, 220],
  ioctl: [16, 29],
  personality: [135, 92],
  socket: [41, 198],
  socketpair: [53, 199],
} as const;
const call = (name: keyof typeof numbers, ...args: number[]) => [numbers[name][column], ...args];
const { EPERM, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT } = errnos;

describe.skipIf(problem !== null)('in a sandbox of bubblewrap', () => {
  it('each denied system call is refused with its error', async () => {
    const probe = await launchProbe();
    const denied = deniedGroups.flatMap(({ calls, errno }) =>
      Object.entries(calls).flatMap(([name, numbers]) =>
        numbers[column] === null ? [] : [{ name, number: numbers[column], errno: errnos[errno] }],
      ),
    );
    expect(denied.length).toBeGreaterThan(50);
    const seen = await errnosOf(
      probe,
      denied.map(({ number }) => [number, 0, 0, 0, 0, 0, 0]),
    );
    expect(denied.map(({ name }, index) => `${name}: ${seen[index]}`)).toEqual(
      denied.map(({ name, errno }) => `${name}: ${errno}`),
    );
  });

  it('the table denies calls that lead out of a sandbox', () => {
    const named = [
      'mount umount2 pivot_root move_mount open_tree fsopen mount_setattr unshare setns clone3 bpf perf_event_open',
      'userfaultfd io_uring_setup keyctl add_key request_key open_by_handle_at name_to_handle_at kexec_load',
      'kexec_file_load init_module finit_module delete_module reboot swapon settimeofday acct quotactl lookup_dcookie',
    ];
    for (const name of named.join(' ').split(' ')) expect(numberOf(name)).toBeGreaterThan(0);
  });

  it('other calls are refused for arguments that lead out of it, and for no others', async () => {
    const probe = await launchProbe();
    const [newUser, newNetwork, child] = [0x1000_0000, 0x4000_0000, 17];
    const [unix, inet, inet6, netlink, vsock, packet, alg, bluetooth] = [1, 2, 10, 16, 40, 17, 38, 31];
    const [stream, datagram, raw] = [1, 2, 3];
    const cases: [number[], number][] = [
      [call('clone', newUser | child, 0, 0, 0, 0), EPERM],
      [call('clone', newNetwork | child, 0, 0, 0, 0), EPERM],
      [call('ioctl', 0, 0x5412, 0), EPERM],
      [call('ioctl', 0, 0x541c, 0), EPERM],
      // The kernel ignores the upper half of the request.
      [call('ioctl', 0, 0x1_0000_5412, 0), EPERM],
      [call('personality', 0x40_0000), EPERM],
      [call('personality', 0x4_0000), 0],
      [call('personality', 0xffff_ffff), 0],
      [call('socket', vsock, stream, 0), EAFNOSUPPORT],
      [call('socket', packet, raw, 0), EAFNOSUPPORT],
      [call('socket', alg, 5, 0), EAFNOSUPPORT],
      [call('socket', bluetooth, raw, 0), EAFNOSUPPORT],
      [call('socketpair', 30, stream, 0, 0), EAFNOSUPPORT],
      [call('socket', netlink, raw, 12), EPROTONOSUPPORT],
      [call('socket', netlink, raw, 0), 0],
      [call('socket', unix, stream, 0), 0],
      [call('socket', inet, stream, 0), 0],
      [call('socket', inet6, datagram, 0), 0],
      // Calls newer than the last reviewed one, and the calls of x32.
      [[470, 0], ENOSYS],
      [[0x4000_0000 + 39], ENOSYS],
    ];
    const seen = await errnosOf(
      probe,
      cases.map(([each]) => each),
    );
    expect(cases.map(([each], index) => [each, seen[index]])).toEqual(cases);
  });

  it('an agent cannot create a namespace, or a sandbox in its sandbox', async () => {
    const probe = await launchProbe();
    const namespace = await runIn(probe, 'unshare', '-U', 'true');
    expect(namespace.status).not.toBe(0);
    expect(namespace.output).toContain('Operation not permitted');
    const inner = await runIn(probe, 'bwrap', '--ro-bind', '/', '/', 'true');
    expect(inner.status).not.toBe(0);
  });

  it('the kernel limits what it may create even without the filter', async () => {
    const { program, dir } = oldBwrap('--seccomp');
    const { drivers, dirs } = await openWith(dir);
    expect(program).toContain(dir);
    const probe = await launchProbe({}, { drivers, dirs });
    expect(await errnosOf(probe, [call('ioctl', 0, 0x5412, 0)])).not.toEqual([EPERM]);
    const namespace = await runIn(probe, 'unshare', '-U', 'true');
    expect(namespace.status).not.toBe(0);
    expect(namespace.output).toContain('No space left on device');
  });

  it.each([
    ['--seccomp', 'a filter of system calls'],
    ['--disable-userns', 'a ban on nested user namespaces'],
    ['--size', 'a size of directories for temporary files'],
  ])('a bubblewrap without %s is used, and the log names the missing protection', async (option, words) => {
    const { dir } = oldBwrap(option);
    const { drivers, dirs, warned } = await openWith(dir);
    expect(drivers.defaultName).toBe('bwrap');
    expect(warned).toHaveLength(1);
    expect(warned[0]).toEqual({ missing: [expect.stringContaining(words)] });
    const probe = await launchProbe({}, { drivers, dirs });
    expect(await probe.inspect('return process.cwd()')).toBe('/workspace');
  });

  it('a filter that the kernel refuses is omitted, and the log reports it', async () => {
    const { dir } = oldBwrap('--seccomp', 'offered');
    const { drivers, dirs, warned } = await openWith(dir);
    expect(warned).toEqual([{ missing: [expect.stringContaining('a filter of system calls')] }]);
    const probe = await launchProbe({}, { drivers, dirs });
    expect(await probe.inspect('return process.cwd()')).toBe('/workspace');
  });

  it('with all protections the log contains no warning', async () => {
    const { warned } = await openWith(join(findProgram('bwrap', path) ?? '', '..'));
    expect(warned).toEqual([]);
  });

  it('its temporary directories have a size limit, and covers of other paths accept no data', async () => {
    const shown = mkdtempSync(join(tmpdir(), 'switchyard-shown-'));
    onTestFinished(() => rmSync(shown, { recursive: true, force: true }));
    const hidden = join(shown, 'hidden');
    mkdirSync(hidden);
    const probe = await launchProbe({ sandbox: sandbox({ tmpMb: 3, readOnly: [shown] }) }, { hidden: [hidden] });
    const fill = (directory: string) =>
      probe.inspect(`
        const { openSync, writeSync, closeSync, unlinkSync } = require('fs');
        const file = openSync('${directory}/full', 'w');
        const block = Buffer.alloc(2 ** 20);
        let mb = 0;
        try { for (; mb < 8; mb++) writeSync(file, block) } catch (error) { return [mb, error.code] } finally { closeSync(file); unlinkSync('${directory}/full') }
        return [mb, null]`);
    for (const directory of ['/tmp', '/var/tmp', '/dev/shm']) expect(await fill(directory)).toEqual([3, 'ENOSPC']);
    for (const directory of ['/dev', hidden]) expect(await fill(directory)).toEqual({ failed: 'EROFS' });
  });

  it('programs do their ordinary work', async () => {
    const probe = await launchProbe();
    const script = [
      'set -e',
      'git init -q repo && cd repo && git -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m one',
      'test "$(git log --format=%s)" = one',
      'mkdir package && echo \'{"name":"p","version":"1.0.0"}\' > package/package.json',
      'echo \'{"dependencies":{"p":"file:./package"}}\' > package.json',
      'npm install --offline --no-audit --no-fund > /dev/null 2>&1 && test -e node_modules/p/package.json',
      "node -e \"new (require('worker_threads').Worker)('process.stdout.write(String(6 * 7))', { eval: true })\" | grep -q 42",
      'perl -e "if (my \\$p = fork) { waitpid \\$p, 0; exit \\$? >> 8 } exit 0"',
      '(sleep 0 & wait) && ls /proc/self/fd | sort | head -1 | grep -q 0',
      'mktemp -d > /dev/null && echo done',
    ];
    const { status, output } = await runIn(probe, 'sh', '-c', script.join('\n'));
    expect(output).toMatch(/done\n$/);
    expect(status).toBe(0);
  });

  it.skipIf(spawnSync('python3', ['-c', '']).status !== 0 || findProgram('python3', '/usr/bin') === null)(
    'Python starts threads and processes',
    async () => {
      const probe = await launchProbe();
      const words =
        'import threading, subprocess; t = threading.Thread(target=print, args=(5,)); t.start(); t.join(); subprocess.run(["true"], check=True)';
      expect(await runIn(probe, '/usr/bin/python3', '-c', words)).toEqual({ status: 0, output: '5\n' });
    },
  );

  it.skipIf(findProgram('strace', path) === null && findProgram('gdb', path) === null)(
    'a debugger may trace a process',
    async () => {
      const probe = await launchProbe();
      const debug =
        findProgram('strace', path) !== null ? ['strace', '-f', 'true'] : ['gdb', '-batch', '-ex', 'run', 'true'];
      const { status } = await runIn(probe, debug[0] as string, ...debug.slice(1));
      expect(status).toBe(0);
    },
  );
});

/** A bubblewrap that refuses an option, like an older one or one on a restrictive kernel. */
function oldBwrap(option: string, help: 'silent' | 'offered' = 'silent'): { program: string; dir: string } {
  const real = findProgram('bwrap', path) ?? '';
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-old-bwrap-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const program = join(dir, 'bwrap');
  const lines = [
    '#!/bin/sh',
    `if [ "$1" = --help ]; then "${real}" --help 2>&1 | ${help === 'silent' ? `/bin/grep -v -e ${option}` : '/bin/cat'}; exit; fi`,
    `for each in "$@"; do if [ "$each" = "${option}" ]; then echo "bwrap: Unknown option ${option}" >&2; exit 1; fi; done`,
    `exec "${real}" "$@"`,
  ];
  writeFileSync(program, `${lines.join('\n')}\n`);
  chmodSync(program, 0o755);
  return { program, dir };
}

async function openWith(bwrapDir: string): Promise<{ drivers: SandboxDrivers; dirs: TestDirs; warned: object[] }> {
  const dirs = makeDirs();
  const warned: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void warned.push(fields) };
  return { drivers: await openTestDrivers({ choice: 'auto', path: bwrapDir, dirs, log }), dirs, warned };
}
