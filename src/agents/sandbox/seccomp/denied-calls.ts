/** Numbers of a system call on x86_64 and aarch64; null: that architecture does not have it. */
export type CallNumbers = readonly [x64: number | null, arm64: number | null];

/** System calls that are refused for one reason. */
export interface DeniedGroup {
  readonly reason: string;
  /** `ENOSYS` where programs try a call and fall back to an older one, else `EPERM`. */
  readonly errno: 'EPERM' | 'ENOSYS';
  readonly calls: Readonly<Record<string, CallNumbers>>;
}

/**
 * The system calls that an agent may not make, whatever their arguments. Most need a capability that an agent does not have
 * anyway; refusing them here keeps their code in the kernel out of an agent's reach. `denied-arguments.ts` has the calls that
 * are refused for some arguments only.
 *
 * `ptrace`, `process_vm_readv`, `process_vm_writev` and `pidfd_getfd` are allowed: debuggers, `strace` and the leak sanitizer
 * need them, an agent sees no process but its own, and since Linux 4.8 a tracer cannot get its tracee past this filter.
 * `landlock_*`, `seccomp` and `prctl` are allowed: they only confine a process further.
 */
export const deniedGroups: readonly DeniedGroup[] = [
  {
    reason: 'They change what is mounted, and could uncover what the sandbox hides.',
    errno: 'EPERM',
    calls: { mount: [165, 40], umount2: [166, 39], 'pivot_root': [155, 41], chroot: [161, 51] },
  },
  {
    reason: 'They are the newer interface to mounts. Programs fall back to mount(), which is refused too.',
    errno: 'ENOSYS',
    calls: {
      'open_tree': [428, 428],
      'move_mount': [429, 429],
      fsopen: [430, 430],
      fsconfig: [431, 431],
      fsmount: [432, 432],
      fspick: [433, 433],
      'mount_setattr': [442, 442],
      'open_tree_attr': [467, 467],
    },
  },
  {
    reason: 'They create and enter namespaces; in a new user namespace a process has every capability.',
    errno: 'EPERM',
    calls: { unshare: [272, 97], setns: [308, 268] },
  },
  {
    reason:
      'A filter cannot read its flags, which are in memory. The C library falls back to clone(), whose flags it can read.',
    errno: 'ENOSYS',
    calls: { clone3: [435, 435] },
  },
  {
    reason: 'They open files by handle, past the directories that the sandbox shows.',
    errno: 'EPERM',
    calls: { 'open_by_handle_at': [304, 265], 'name_to_handle_at': [303, 264] },
  },
  {
    reason: 'The keyrings of the kernel are not in a namespace: a process would find keys of the host.',
    errno: 'EPERM',
    calls: { 'add_key': [248, 217], 'request_key': [249, 218], keyctl: [250, 219] },
  },
  {
    reason: 'They load code into the kernel or measure it. Many ways to take the kernel over began here.',
    errno: 'EPERM',
    calls: {
      bpf: [321, 280],
      'perf_event_open': [298, 241],
      'init_module': [175, 105],
      'finit_module': [313, 273],
      'delete_module': [176, 106],
      'create_module': [174, null],
      'query_module': [178, null],
      'get_kernel_syms': [177, null],
      'kexec_load': [246, 104],
      'kexec_file_load': [320, 294],
      'lookup_dcookie': [212, 18],
    },
  },
  {
    reason: 'It stops the kernel in the middle of a copy, which makes races in it easy to win.',
    errno: 'EPERM',
    calls: { userfaultfd: [323, 282] },
  },
  {
    reason:
      'io_uring runs operations that this filter does not see, and has had many holes. Programs fall back to epoll.',
    errno: 'ENOSYS',
    calls: { 'io_uring_setup': [425, 425], 'io_uring_enter': [426, 426], 'io_uring_register': [427, 427] },
  },
  {
    reason: 'They set up the whole host: clock, swap, quotas, accounting, terminals, names, restart.',
    errno: 'EPERM',
    calls: {
      reboot: [169, 142],
      swapon: [167, 224],
      swapoff: [168, 225],
      settimeofday: [164, 170],
      'clock_settime': [227, 112],
      'clock_adjtime': [305, 266],
      adjtimex: [159, 171],
      acct: [163, 89],
      quotactl: [179, 60],
      'quotactl_fd': [443, 443],
      sethostname: [170, 161],
      setdomainname: [171, 162],
      vhangup: [153, 58],
      syslog: [103, 116],
      'fanotify_init': [300, 262],
    },
  },
  {
    reason: 'They open the ports of the hardware, or segments for 16-bit code.',
    errno: 'EPERM',
    calls: { iopl: [172, null], ioperm: [173, null], 'modify_ldt': [154, null] },
  },
  {
    reason: 'They place memory on the nodes of the host, with little use in a sandbox and a history of holes.',
    errno: 'EPERM',
    calls: {
      mbind: [237, 235],
      'set_mempolicy': [238, 237],
      'set_mempolicy_home_node': [450, 450],
      'migrate_pages': [256, 238],
      'move_pages': [279, 239],
    },
  },
  {
    reason: 'It compares pointers of the kernel, which tells where its objects lie.',
    errno: 'EPERM',
    calls: { kcmp: [312, 272] },
  },
  {
    reason: 'They are obsolete, and nothing current uses them.',
    errno: 'EPERM',
    calls: {
      uselib: [134, null],
      ustat: [136, null],
      sysfs: [139, null],
      '_sysctl': [156, null],
      nfsservctl: [180, 42],
    },
  },
];

/** The last number that was reviewed for {@link deniedGroups} (`file_setattr` of Linux 6.17): newer calls get ENOSYS. */
export const lastReviewedCall = 469;
