import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { deniedGroups } from '../../src/agents/sandbox/seccomp/denied-calls.ts';

/** Calls that bubblewrap needs to build a sandbox, or that the service's own programs use. */
const needed = [
  ...['mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns', 'clone3', 'sethostname'],
  ...['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'open_tree_attr'],
];

it('denies a container of workers the calls that agents may not make, except those that bubblewrap needs', () => {
  const profile = JSON.parse(readFileSync('deploy/docker/seccomp.json', 'utf8'));
  expect(profile).toMatchObject({
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'],
  });
  const codes = { EPERM: 1, ENOSYS: 38 };
  const expected = Object.entries(codes).map(([errno, errnoRet]) => ({
    names: deniedGroups
      .filter((group) => group.errno === errno)
      .flatMap(({ calls }) => Object.keys(calls))
      .filter((name) => !needed.includes(name)),
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
  }));
  expect(profile.syscalls).toEqual(expected);
});
