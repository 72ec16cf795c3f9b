import { appendGitConfig, type GitSetting } from '../../git/git-config.ts';

/** The git gateway as a process in the sandbox reaches it. */
export interface GitGatewayAddress {
  /** `http://<host>:<port>` */
  readonly url: string;
  readonly key: string;
}

/** A host whose repositories git asks the gateway for. */
export interface GatewayHost {
  /** As in {@link GatewayRepository.host}. */
  readonly host: string;
  /** True if the forge is used without encryption, so that `http` addresses go to the gateway too. */
  readonly isPlainHttp: boolean;
}

/**
 * The variables that make git and git-lfs use the gateway for these hosts. They override all configuration files, and
 * no file has the key. They are appended to the configuration in `base`, the other variables of the process.
 *
 * The key is in a header and not in an address: git passes addresses to its helpers as arguments, which every user of
 * the machine can read.
 */
export function gitEnvironment(
  { url, key }: GitGatewayAddress,
  hosts: readonly GatewayHost[],
  base: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const basic = Buffer.from(`switchyard:${key}`).toString('base64');
  const settings: GitSetting[] = [
    ...hosts.flatMap((each) => addressesOf(each).map((from) => [`url.${url}/${each.host}/.insteadOf`, from] as const)),
    // An empty value removes those of files.
    [`http.${url}/.extraHeader`, ''],
    [`http.${url}/.extraHeader`, `Authorization: Basic ${basic}`],
    [`http.${url}/.proxy`, ''],
    [`http.${url}/.followRedirects`, 'false'],
    [`lfs.${url}/.locksverify`, 'false'],
    ['credential.helper', ''],
  ];
  return {
    ...appendGitConfig(base, settings),
    GIT_TERMINAL_PROMPT: '0',
    // Empty: git asks nobody for a password.
    GIT_ASKPASS: '',
  };
}

// The forms in which people write the address of a repository at a host. SSH has its own port.
function addressesOf({ host, isPlainHttp }: GatewayHost): string[] {
  const name = host.replace(/:\d+$/, '');
  const web = [`https://${host}/`, `https://git@${host}/`, ...(isPlainHttp ? [`http://${host}/`] : [])];
  return [...web, `git@${name}:`, `ssh://git@${name}/`, `ssh://git@${name}:22/`, `git+ssh://git@${name}/`];
}
