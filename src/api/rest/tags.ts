/** The tags of the OpenAPI documents, with their descriptions. A new tag needs a line here. */
const descriptions: Readonly<Record<string, string>> = {
  'api-keys': 'Keys, and their revocation.',
  attachments: 'Files that are given to sessions.',
  'audit-logs': 'Who did what, and when.',
  automations: 'What starts sessions by itself.',
  consumption: 'What was used, in ACUs.',
  'git-providers': 'Connections to Git hosts.',
  'guardrail-violations': 'What guardrails have found in sessions.',
  hypervisors: 'Machines that sessions run on.',
  'idp-groups': 'Groups of an identity provider.',
  'ip-access-list': 'The addresses that an enterprise is used from.',
  knowledge: 'Notes that sessions are given where they fit, and their folders.',
  members: 'People and service users, and their roles.',
  metrics: 'Counts over sessions and people.',
  'org-group-limits': 'Limits of groups of organizations.',
  organizations: 'Organizations, and their limits.',
  playbooks: 'Instructions that sessions are started with.',
  'pr-reviews': 'Reviews of pull requests.',
  queue: 'Sessions that wait to be started.',
  repositories: 'Repositories that are indexed for sessions.',
  roles: 'Roles, and the permissions that they hold.',
  schedules: 'The shape that automations had before.',
  secrets: 'Values that sessions are given as environment variables. They are written, and never read.',
  self: 'Whom a key belongs to.',
  tags: 'The words that sessions may be marked with.',
  'service-users': 'Principals that are no people, and their keys.',
  sessions: 'Sessions of agents, and their messages.',
};

/** The tag of a path: its resource, the first word after the version and the scope. */
export function tagOf(path: string): string {
  const [, , ...segments] = path.split('/');
  if (segments[0] === 'enterprise') segments.shift();
  if (segments[0] === 'organizations' && segments.length > 2) segments.splice(0, 2);
  return segments.find((word) => !word.startsWith('{')) ?? 'organizations';
}

/** A tag with its description, as the OpenAPI document lists it. Throws for a tag without a description. */
export function describeTag(name: string): { name: string; description: string } {
  const description = descriptions[name];
  if (!description) throw new Error(`No description of the tag "${name}" in rest/tags.ts.`);
  return { name, description };
}
