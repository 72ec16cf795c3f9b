import { visible } from '../ui/visible.ts';

/** Hosts whose pull requests need no host in their name. */
const wellKnownHosts: ReadonlySet<string> = new Set(['github.com', 'gitlab.com', 'bitbucket.org']);

/** Returns true for the URL of a pull request of a repository. */
export function isPullRequestOf(
  url: string,
  { host, path }: { readonly host: string; readonly path: string },
): boolean {
  if (!URL.canParse(url)) return false;
  const address = new URL(url);
  return address.host === host && address.pathname.toLowerCase().startsWith(`/${path.toLowerCase()}/`);
}

/**
 * The text of a link to a pull request: `acme/api #12`, or `git.example/acme/api #12` for a host that is not well
 * known. An agent reports the URL, so it also chooses the host.
 */
export function pullRequestName(url: string): string {
  const link = URL.canParse(url) ? new URL(url) : null;
  const [, repository, number] =
    /^\/(.+?)\/(?:-\/)?(?:pulls?|pull-requests|merge_requests)\/(\d+)/.exec(link?.pathname ?? '') ?? [];
  if (link === null || repository === undefined) return visible(url.replace(/^https?:\/\//, ''));
  const host = wellKnownHosts.has(link.host) ? '' : `${link.host}/`;
  return visible(`${host}${repository} #${number}`);
}
