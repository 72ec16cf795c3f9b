/** One instruction of classic BPF: `struct sock_filter` of the kernel. */
export interface Instruction {
  readonly code: number;
  /** Instructions to skip if the test holds. */
  readonly jt: number;
  /** Instructions to skip if it does not. */
  readonly jf: number;
  readonly k: number;
}

// From <linux/bpf_common.h>: class, size and mode, or class, test and source.
const opcodes = { load: 0x20, equal: 0x15, greater: 0x25, anyBit: 0x45, give: 0x06 } as const;

// From <linux/seccomp.h>.
const actions = { allow: 0x7fff_0000, errno: 0x0005_0000, killProcess: 0x8000_0000 } as const;

// Offsets in `struct seccomp_data`, on a little-endian machine.
const numberOffset = 0;
const architectureOffset = 4;
const argumentsOffset = 16;

/** Loads the number of the system call. */
export const loadNumber = (): Instruction => load(numberOffset);

/** Loads the architecture whose calling convention the call uses (`AUDIT_ARCH_…`). */
export const loadArchitecture = (): Instruction => load(architectureOffset);

/**
 * Loads the lower 32 bits of an argument, the first of which is 0. The kernel ignores the upper half of those tested
 * here.
 */
export const loadArgument = (index: number): Instruction => load(argumentsOffset + 8 * index);

/** Lets the call through. */
export const allow = (): Instruction => give(actions.allow);

/** Refuses the call with an error number. */
export const refuse = (errno: number): Instruction => give(actions.errno | errno);

/** Ends the process with SIGSYS. */
export const kill = (): Instruction => give(actions.killProcess);

/** Runs `body` if the loaded value is `k`. A body must end with {@link allow}, {@link refuse} or {@link kill}. */
export const whenEqual = (k: number, body: readonly Instruction[]): Instruction[] => when(opcodes.equal, k, body);

/** Runs `body` unless the loaded value is `k`. */
export const unlessEqual = (k: number, body: readonly Instruction[]): Instruction[] => [
  { code: opcodes.equal, jt: body.length, jf: 0, k },
  ...body,
];

/** Runs `body` if the loaded value is greater than `k`, unsigned. */
export const whenGreater = (k: number, body: readonly Instruction[]): Instruction[] => when(opcodes.greater, k, body);

/** Runs `body` if the loaded value has any bit of `mask`. */
export const whenAnyBit = (mask: number, body: readonly Instruction[]): Instruction[] =>
  when(opcodes.anyBit, mask, body);

/** Encodes a program as the kernel and `bwrap --seccomp` read it on a little-endian machine: 8 bytes for each instruction. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(jt, 8 * index + 2);
    bytes.writeUInt8(jf, 8 * index + 3);
    bytes.writeUInt32LE(k >>> 0, 8 * index + 4);
  }
  return bytes;
}

function load(k: number): Instruction {
  return { code: opcodes.load, jt: 0, jf: 0, k };
}

function give(k: number): Instruction {
  return { code: opcodes.give, jt: 0, jf: 0, k };
}

// writeUInt8 of assemble() refuses a body that is longer than a jump can skip (255 instructions).
function when(code: number, k: number, body: readonly Instruction[]): Instruction[] {
  return [{ code, jt: 0, jf: body.length, k }, ...body];
}
