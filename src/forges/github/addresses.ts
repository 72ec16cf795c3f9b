import type { ForgeAddress } from '../support/connection.ts';

/**
 * Returns the base URL of the API of github.com, of GitHub Enterprise Cloud with data residency (*.ghe.com), or of GitHub
 * Enterprise Server.
 */
export function apiUrlOf({ host, baseUrl }: ForgeAddress): string {
  if (isGithubDotCom(host)) return 'https://api.github.com';
  if (host.endsWith('.ghe.com')) return `https://api.${host}`;
  return `${baseUrl}/api/v3`;
}

/** Returns the URL of the page that installs an App. GitHub Enterprise Server has Apps under another path. */
export function installationUrlOf({ host, baseUrl }: ForgeAddress, slug: string): string {
  const folder = isGithubDotCom(host) || host.endsWith('.ghe.com') ? 'apps' : 'github-apps';
  return `${baseUrl}/${folder}/${slug}/installations/new`;
}

const isGithubDotCom = (host: string) => host === 'github.com' || host === 'www.github.com';
