/** The unit of usage, on every page that shows it. */
export const acus = {
  name: 'Agent compute units (ACUs)',
  question: 'What is an ACU?',
  explanation:
    'An ACU measures the work of agents: 1 ACU is about 15 minutes, unless your operator has set another rate. Time in which an agent waits for you doesn’t count.',
};
