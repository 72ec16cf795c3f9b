import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Where systems keep programs and libraries. */
const directories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store'];

/**
 * What programs look up in /etc. A list of what is given, not of what is kept back: services keep their keys there too, and a
 * worker that runs as root could read them all.
 */
const settings = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'default/locale',
  'environment.d',
  'fonts',
  'gai.conf',
  'gitconfig',
  'host.conf',
  'hosts',
  'inputrc',
  'java-11-openjdk',
  'java-17-openjdk',
  'java-21-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'login.defs',
  'lsb-release',
  'magic',
  'maven',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/ca-trust',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'profile',
  'profile.d',
  'protocols',
  'python3',
  'resolv.conf',
  'rpc',
  'services',
  'shells',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
  'vim',
  'xdg',
];

/** The arguments by which bubblewrap shows the system's own files, as far as there are any. */
export function systemArguments(): string[] {
  const shown = directories.flatMap((path) => {
    const link = linkOf(path);
    if (link === undefined) return [];
    return link === null ? ['--ro-bind', path, path] : ['--symlink', link, path];
  });
  return [...shown, ...settings.flatMap((name) => ['--ro-bind-try', join('/etc', name), join('/etc', name)])];
}

/** The directories of {@link systemArguments} that are whole there. */
export const systemDirectories: readonly string[] = directories;

// What a path links to; null: it is no link; undefined: there is nothing.
function linkOf(path: string): string | null | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return undefined;
  }
}
