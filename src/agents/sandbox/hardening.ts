import { compileFilter } from './seccomp/filter.ts';

/** Protections of a sandbox that not every kernel and bubblewrap version supports. */
export interface Hardening {
  /** The filter of system calls, for `--seccomp`; null: none. */
  readonly filter: Buffer | null;
  /** True if the agent cannot create user namespaces. */
  readonly isUsernsDisabled: boolean;
  /** True if directories for temporary files have a size. */
  readonly isTmpBounded: boolean;
}

/**
 * The protections to try, best first, according to `bwrap --help`. The last one needs nothing that a kernel may refuse.
 */
export function hardeningsToTry(help: string, arch: string): readonly Hardening[] {
  const filter = help.includes('--seccomp') ? compileFilter(arch) : null;
  const canDisable = help.includes('--disable-userns');
  const isTmpBounded = help.includes('--size') && help.includes('--perms');
  const filters = filter === null ? [null] : [filter, null];
  return (canDisable ? [true, false] : [false]).flatMap((isUsernsDisabled) =>
    filters.map((each) => ({ filter: each, isUsernsDisabled, isTmpBounded })),
  );
}

/** The names, for the log, of the protections that a sandbox lacks. */
export function missingProtections({ filter, isUsernsDisabled, isTmpBounded }: Hardening): string[] {
  return [
    ...(filter === null
      ? ['a filter of system calls (x86_64 or aarch64, and a kernel with CONFIG_SECCOMP_FILTER)']
      : []),
    ...(isUsernsDisabled ? [] : ['a ban on nested user namespaces (bubblewrap 0.8, not setuid)']),
    ...(isTmpBounded ? [] : ['a size of directories for temporary files (bubblewrap 0.8)']),
  ];
}
