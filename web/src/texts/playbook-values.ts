import type { Strings } from './kit.ts';

export const playbookValues = {
  showPlaybook: 'Show playbook',
  legend: 'Values for the playbook',
  hint: 'They are added to your prompt. A value that you leave empty is not sent.',
  intro: 'Values for the playbook:',
  value: ({ name, value }: Strings<'name' | 'value'>) => `- ${name}: ${value}`,
};
