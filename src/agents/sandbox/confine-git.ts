import type { Confine } from '../../git/diff/scratch.ts';
import { systemArguments } from './system-files.ts';

/**
 * Confines git to some paths by bubblewrap: it has no network, and neither a link nor an alternate of a hostile clone
 * leads out of these paths.
 */
export function confineGit(program: string): Confine {
  return ({ readable, writable }) => [
    program,
    ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
    ...systemArguments(),
    ...['--dev', '/dev', '--tmpfs', '/tmp'],
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--remount-ro', '/', '--'],
  ];
}
