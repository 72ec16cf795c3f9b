import { rich } from './kit.ts';

export const secretForm = {
  newSecret: 'New secret',
  create: 'Create secret',
  nameExample: 'API_TOKEN',
  nameHint: 'Agents read the secret from an environment variable with this name. Invalid characters become “_”.',
  variableHint: rich('Agents read the secret from the environment variable {name}.'),
  cookies: 'Cookies',
  totp: 'One-time codes (TOTP)',
  valueHint: 'You won’t be able to view this value again, here or through the API.',
  showValue: 'Show value',
  notePlaceholder: 'What it’s used for',
  redact: 'Redact from agent output',
};

export const secretsPage = {
  typeLabel: { KEY_VALUE: 'Value', COOKIE: 'Cookies', TOTP: 'One-time codes' },
  agentOutput: 'Agent output',
  redacted: 'Redacted',
  visible: 'Visible',
  variable: rich('Agents read {name}.'),
  addedBy: 'Added by',
  newSecret: 'New secret',
  noSecretsYet: 'No secrets yet',
  emptyText:
    'Secrets are available to agents as environment variables. Create one to give agents access to another service.',
  deleteText: 'New sessions won’t get this secret. This can’t be undone.',
};
