import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The directories where systems keep programs and libraries. */
const directories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store'];

/**
 * The files in /etc that programs read. This is an allowlist: services keep their keys in /etc too, and a worker that
 * runs as root could read them all.
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

/** The bubblewrap arguments that show the system's own files, where they exist. */
export function systemArguments(): string[] {
  const shown = directories.flatMap((path) => {
    const link = linkOf(path);
    if (link === undefined) return [];
    return link === null ? ['--ro-bind', path, path] : ['--symlink', link, path];
  });
  return [...shown, ...settings.flatMap((name) => ['--ro-bind-try', join('/etc', name), join('/etc', name)])];
}

/** The directories of {@link systemArguments} that are shown completely. */
export const systemDirectories: readonly string[] = directories;

// The target of a symbolic link; null: it is no link; undefined: it does not exist.
function linkOf(path: string): string | null | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return undefined;
  }
}
