import type { Strings } from './kit.ts';

export const enterprisePage = {
  noAccess: 'You can’t view enterprise settings',
};

export const ipList = {
  allAllowed: 'All IP addresses are allowed.',
  ipAccessListSaved: 'IP access list saved.',
  ipAccessList: 'IP access list',
  introAll: 'API keys and the console can be used from any IP address.',
  introListed: 'API keys and the console can be used only from these IP addresses.',
  ipAddressesAndRanges: 'IP addresses and ranges',
  ipRangesHint: 'Enter one per line. Leave empty to allow all addresses.',
  force: 'I understand I may lose access',
  saveList: 'Save list',
  allowAllTitle: 'Allow all IP addresses?',
  allowListedTitle: 'Allow only these IP addresses?',
  allowAllText: 'API keys and the console will work from any IP address.',
  allowListedText: ({ addresses }: Strings<'addresses'>) =>
    `Requests from all other addresses will be refused. Allowed: ${addresses}`,
};

export const limits = {
  enterpriseLimitSaved: 'Enterprise limit saved.',
  editLimit: ({ name }: Strings<'name'>) => `Edit the limit of ${name}`,
  acuLimits: 'ACU limits',
  intro: 'Limits apply to each calendar month (UTC). When a limit is reached, sessions are suspended.',
  enterpriseLimit: 'Monthly ACU limit for the enterprise',
  saveLimit: 'Save limit',
  listLabel: 'Organization limits',
  savedLimit: ({ name }: Strings<'name'>) => `Saved the limit of ${name}.`,
  limitTitle: ({ name }: Strings<'name'>) => `ACU limit of ${name}`,
};

export const organizationForm = {
  organizationSaved: 'Organization saved.',
  general: 'General',
  limits: 'Limits',
  defaultAgent: 'Default agent',
  quotaHint: '0 means no limit.',
  maxQueuedSessions: 'Max queued sessions',
  maxStorageMb: 'Max storage (MiB)',
  maxTokensPerDay: 'Max tokens per day (UTC)',
  defaultModels: 'Default models',
  defaultModelsHint: 'Used when a session’s creator selects no model.',
  agentsDefault: 'Agent’s default',
  defaultRepositories: 'Default repositories',
  defaultRepositoriesHint: 'Used for sessions that select no repository.',
  branchTemplate: 'Branch template',
  branchTemplateExample: 'switchyard/{slug}-{short id}',
  branchTemplateHint:
    '{slug} is the session’s title, and {short id} is the end of its ID. Every template needs {short id}.',
};

export const tags = {
  defaultTagRemoved: 'Default tag removed.',
  defaultTagSet: ({ tag }: Strings<'tag'>) => `Default tag set to ${tag}.`,
  introAny: 'Sessions can have any tag. Add tags to allow only those.',
  introListed: 'Sessions can have only these tags.',
  allowedTags: 'Allowed tags',
  newTags: 'New tags',
  newTagsPlaceholder: 'Separate tags with commas',
  defaultTag: 'Default tag',
};
