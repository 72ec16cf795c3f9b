export const playbookPage = {
  playbookNotFound: 'Playbook not found',
  labels: { title: 'Title', macro: 'Macro', body: 'Instructions', structuredOutputSchema: 'Structured output schema' },
  newEnterprisePlaybook: 'New enterprise playbook',
  create: 'Create playbook',
  newPlaybook: 'New playbook',
  macroExample: '!fix',
  macroHint: 'Use this playbook by writing its macro in a prompt.',
  bodyHint: 'Markdown is supported. For a name in two braces, such as {{service}}, a new session has a field.',
  schemaPlaceholder: 'JSON Schema (Draft 7), optional',
};

export const playbooksPage = {
  macro: 'Macro',
  updatedBy: 'Updated by',
  newPlaybook: 'New playbook',
  noPlaybooksYet: 'No playbooks yet',
  emptyText: 'Playbooks are reusable instructions for agents. Create one to use it in sessions.',
  deleteText: 'New sessions can’t use this playbook. Existing sessions still show its title.',
};
