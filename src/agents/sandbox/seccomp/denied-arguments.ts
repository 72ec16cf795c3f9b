import { allow, type Instruction, loadArgument, refuse, whenAnyBit, whenEqual } from './bpf.ts';
import type { CallNumbers } from './denied-calls.ts';

/** A system call that is refused for some arguments. */
export interface ArgumentRule {
  readonly name: string;
  readonly reason: string;
  readonly numbers: CallNumbers;
  /** Decides about a call; ends with an action on every path. */
  readonly body: readonly Instruction[];
}

/** Error numbers of Linux, the same on both architectures. */
export const errnos = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 } as const;

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. Only clone3() and unshare() can make a time namespace.
const newNamespaces = 0x7e02_0000;

// PER_LINUX and PER_LINUX32, each also as Linux 2.6; ADDR_NO_RANDOMIZE, which debuggers and the thread sanitizer set; a query.
const allowedPersonalities = [0x0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff];

// AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6. AF_NETLINK is below.
const allowedFamilies = [0, 1, 2, 10];
const netlink = 16;
const netlinkRoute = 0;

const simulateInput = 0x5412;
const consoleControl = 0x541c;

const oneOf = (values: readonly number[]) => values.flatMap((value) => whenEqual(value, [allow()]));

const socketBody = [
  loadArgument(0),
  ...oneOf(allowedFamilies),
  ...whenEqual(netlink, [loadArgument(2), ...whenEqual(netlinkRoute, [allow()]), refuse(errnos.EPROTONOSUPPORT)]),
  refuse(errnos.EAFNOSUPPORT),
];

/** The calls that every program makes, and that are refused for some arguments. */
export const argumentRules: readonly ArgumentRule[] = [
  {
    name: 'clone',
    reason: 'Processes and threads may be made, namespaces may not.',
    numbers: [56, 220],
    body: [loadArgument(0), ...whenAnyBit(newNamespaces, [refuse(errnos.EPERM)]), allow()],
  },
  {
    name: 'ioctl',
    reason: 'TIOCSTI and TIOCLINUX type into a terminal, as if its user typed it.',
    numbers: [16, 29],
    body: [
      loadArgument(1),
      ...[simulateInput, consoleControl].flatMap((request) => whenEqual(request, [refuse(errnos.EPERM)])),
      allow(),
    ],
  },
  {
    name: 'personality',
    reason: 'Other personalities weaken the protection of memory, or choose rarely used code of the kernel.',
    numbers: [135, 92],
    body: [loadArgument(0), ...oneOf(allowedPersonalities), refuse(errnos.EPERM)],
  },
  {
    name: 'socket',
    reason:
      'Unix, IPv4, IPv6 and NETLINK_ROUTE are what programs need. VSOCK leads to the host of a virtual machine past every network namespace; packet, Bluetooth, CAN, crypto, TIPC and other netlink sockets are code with holes.',
    numbers: [41, 198],
    body: socketBody,
  },
  { name: 'socketpair', reason: 'The same families.', numbers: [53, 199], body: socketBody },
];
