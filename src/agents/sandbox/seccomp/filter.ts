import {
  allow,
  assemble,
  type Instruction,
  kill,
  loadArchitecture,
  loadNumber,
  refuse,
  unlessEqual,
  whenEqual,
  whenGreater,
} from './bpf.ts';
import { argumentRules, errnos } from './denied-arguments.ts';
import { deniedGroups, lastReviewedCall } from './denied-calls.ts';

// AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64, and the column of the numbers.
const architectures = { x64: { audit: 0xc000_003e, column: 0 }, arm64: { audit: 0xc000_00b7, column: 1 } } as const;

/**
 * Compiles the filter of system calls for an architecture as Node names it (`process.arch`), for `bwrap --seccomp`; null: there
 * is none for it. Programs of another calling convention (32-bit programs) are killed, because the same numbers mean other
 * calls there.
 */
export function compileFilter(arch: string): Buffer | null {
  const target = architectures[arch as keyof typeof architectures];
  if (target === undefined) return null;
  const { audit, column } = target;
  const rule = (number: number | null | undefined, body: readonly Instruction[]) =>
    number == null ? [] : whenEqual(number, body);
  return assemble([
    loadArchitecture(),
    ...unlessEqual(audit, [kill()]),
    loadNumber(),
    // On x86_64 also the calls of x32, which have a high bit.
    ...whenGreater(lastReviewedCall, [refuse(errnos.ENOSYS)]),
    ...argumentRules.flatMap(({ numbers, body }) => rule(numbers[column], body)),
    ...deniedGroups.flatMap(({ errno, calls }) =>
      Object.values(calls).flatMap((numbers) => rule(numbers[column], [refuse(errnos[errno])])),
    ),
    allow(),
  ]);
}
