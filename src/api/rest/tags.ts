/** The tags of the OpenAPI documents, with their descriptions. A new tag needs a line here. */
const descriptions: Readonly<Record<string, string>> = {
  'api-keys': 'API keys and their revocation.',
  attachments: 'Files for sessions.',
  'audit-logs': 'The audit log: who did what, and when.',
  automations: 'Automations, which start sessions by schedule or event.',
  consumption: 'Usage in ACUs.',
  'git-providers': 'Connections to Git hosts.',
  'guardrail-violations': 'Violations that guardrails found in sessions.',
  hypervisors: 'Machines that sessions run on.',
  'idp-groups': 'Groups of an identity provider.',
  'ip-access-list': 'IP addresses that may access an enterprise.',
  knowledge: 'Knowledge notes for sessions, and their folders.',
  members: 'People and service users, and their roles.',
  metrics: 'Metrics about sessions and people.',
  'org-group-limits': 'Limits for groups of organizations.',
  organizations: 'Organizations, and their limits.',
  playbooks: 'Playbooks: reusable instructions for sessions.',
  'pr-reviews': 'Reviews of pull requests.',
  queue: 'Queued sessions.',
  repositories: 'Repositories that are indexed for sessions.',
  roles: 'Roles and their permissions.',
  schedules: 'Schedules, the earlier form of automations.',
  secrets: 'Secrets, which sessions get as environment variables. You can write them, but never read them.',
  self: 'The owner of a key.',
  tags: 'Tags for sessions.',
  'service-users': 'Service users and their keys.',
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
