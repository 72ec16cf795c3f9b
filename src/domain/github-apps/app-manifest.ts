import { isAllowedAddress, literalAddress } from '../../common/addresses.ts';
import { prefixedId } from '../ids.ts';

/** Options of {@link createAppManifest}. */
export interface ManifestOptions {
  /** The address of this service. */
  readonly baseUrl: string;
  /** The host of GitHub. */
  readonly host: string;
  /** The unprefixed id of the git connection that the App becomes. */
  readonly connectionId: string;
  /** The login of the owner at GitHub; null: a person. */
  readonly organization: string | null;
}

/** GitHub's limit of the name of an App. */
const maxNameLength = 34;

/** The permissions that sessions need. Issues: a comment at a pull request is one of an issue. */
export const appPermissions = {
  'metadata': 'read',
  'contents': 'write',
  'pull_requests': 'write',
  'checks': 'read',
  'statuses': 'read',
  'actions': 'read',
  'issues': 'write',
} as const;

/** The events of docs/repositories.md#webhooks-of-a-forge. */
export const appEvents = [
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'issues',
  'issue_comment',
  'check_run',
  'status',
  'push',
] as const;

/**
 * Creates the manifest of a private App as GitHub describes it ("Registering a GitHub App from a manifest"). Without an address that
 * GitHub can reach it has no webhook: GitHub refuses addresses such as localhost, also for a webhook that is not active.
 */
export function createAppManifest({ baseUrl, host, connectionId, organization }: ManifestOptions) {
  const id = prefixedId('gitConnection', connectionId);
  const hook = {
    'hook_attributes': { url: `${baseUrl}/webhooks/git/${id}`, active: true },
    'default_events': appEvents,
  };
  return {
    // GitHub asks for the name of a personal App, and lets the person change every name.
    ...(organization !== null && { name: `Switchyard for ${organization}`.slice(0, maxNameLength) }),
    'url': baseUrl,
    'description': 'Lets sessions of Switchyard work in repositories and open pull requests.',
    'public': false,
    'redirect_url': `${baseUrl}/manage/git/github-app`,
    'setup_url': `${baseUrl}/manage/git/${id}/installed`,
    'setup_on_update': false,
    'default_permissions': appPermissions,
    ...(isReachableFrom(host, baseUrl) && hook),
  };
}

/** Tells if a GitHub may reach this service: github.com needs a public address, GitHub Enterprise Server one besides loopback. */
function isReachableFrom(host: string, baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return false;
  const address = literalAddress(hostname);
  if (address === null) return true;
  if (/^127\.|^::1$|^::ffff:7f|^0\.0\.0\.0$|^::$/.test(address)) return false;
  return isAllowedAddress(address, host !== 'github.com');
}
