import { z } from 'zod';
import type { ApiClient } from '../http/api-client.ts';
import type { AbilityReport, ConnectionReport, ForgeAbility } from '../interface/forge.ts';
import { lookUp } from '../support/lookup.ts';
import type { AppCredentials } from './credentials.ts';

type Report = Omit<ConnectionReport, 'identity'>;

/** The permissions of GitHub for each ability, and the scope of classic tokens. */
const needs: readonly (readonly [
  ForgeAbility,
  name: string,
  level: 'read' | 'write',
  isRequired: boolean,
  scope: string,
])[] = [
  ['read_code', 'contents', 'read', true, 'repo'],
  ['push', 'contents', 'write', true, 'repo'],
  ['push_workflows', 'workflows', 'write', false, 'workflow'],
  ['pull_requests', 'pull_requests', 'write', true, 'repo'],
  ['comments', 'issues', 'write', false, 'repo'],
  ['checks', 'checks', 'read', false, 'repo'],
  ['checks', 'statuses', 'read', false, 'repo'],
  ['check_logs', 'actions', 'read', false, 'repo'],
];

/** The events that follow-ups need. */
const events = [
  'check_run',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'push',
];

const ranks: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

/** Compares the permissions and events of an installation with the ones that sessions need. */
export async function readAppReport(app: AppCredentials): Promise<Report> {
  const installation = await app.installation(true);
  // The permissions of the installation may be there while its tokens are refused.
  await app.apiToken();
  const rank = (level: string | undefined) => lookUp(ranks, level ?? '') ?? 0;
  const abilities = needs.map(
    ([ability, name, level, isRequired]): AbilityReport => ({
      ability,
      permission: `${name}: ${level}`,
      isGranted: rank(installation.permissions[name]) >= rank(level),
      isRequired,
    }),
  );
  const missing =
    installation.events === undefined ? [] : events.filter((event) => !installation.events?.includes(event));
  return {
    abilities: [
      ...abilities,
      {
        ability: 'webhooks',
        permission: `events: ${missing.length > 0 ? missing.join(', ') : events.join(', ')}`,
        isGranted: installation.events === undefined ? null : missing.length === 0,
        isRequired: false,
      },
    ],
    expiresAt: null,
    warnings:
      installation.permissions.administration === 'write'
        ? ['The App has the permission "administration: write", which sessions do not need.']
        : [],
  };
}

/** Reads the scopes of a classic token. GitHub does not say what a fine-grained token may do before it is used. */
export async function readTokenReport(client: ApiClient): Promise<Report> {
  const action = 'read the account of the connection';
  const { headers } = await client.call(z.object({ id: z.number() }), { path: '/user', action });
  const listed = headers['x-oauth-scopes'];
  // An empty list is sent for classic tokens without a scope; for fine-grained tokens, there is no header.
  const scopes = listed === undefined ? null : listed.split(',').map((scope) => scope.trim());
  const expiry = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (?:UTC|\+0000)$/.exec(
    headers['github-authentication-token-expiration'] ?? '',
  );
  return {
    abilities: needs.map(([ability, name, level, isRequired, scope]) => ({
      ability,
      permission: scopes === null ? `${name}: ${level}` : scope,
      isGranted: scopes === null ? null : scopes.includes(scope),
      isRequired,
    })),
    expiresAt: expiry ? new Date(`${expiry[1]}T${expiry[2]}Z`) : null,
    warnings: [
      ...(scopes === null
        ? [
            'GitHub does not report the permissions of this token. Switchyard cannot know them before a session uses them.',
          ]
        : []),
      ...(scopes?.some((scope) => /^(?:admin:|delete_repo|site_admin)/.test(scope))
        ? ['The token has administrative scopes. Sessions don’t need them.']
        : []),
    ],
  };
}
