/** A prompt for a first session. It needs no repository, and its result is visible in the session. */
interface Example {
  readonly title: string;
  readonly description: string;
  readonly prompt: string;
}

/** The examples of the first-run page. */
export const examples: readonly Example[] = [
  {
    title: 'A program with its tests',
    description: 'Converts Roman numerals.',
    prompt:
      'Write a small program that converts numbers to Roman numerals and back, and tests for it. Use a language that is ' +
      'installed here, and no packages. Run the tests, and show me their output.',
  },
  {
    title: 'A page for the browser',
    description: 'A typing test in a single file.',
    prompt:
      'Write index.html: a typing speed test in a single file, without libraries. It shows a text to type, marks mistakes, ' +
      'and shows the words per minute at the end. Then explain in three sentences how it works.',
  },
  {
    title: 'A report from data',
    description: 'Invents sales and adds them up.',
    prompt:
      'Create sales.csv with 200 invented sales of four products in one year. Write a script that adds them up by month and ' +
      'product, and run it. Write the result to report.md as a table, and show me the table.',
  },
];

/** The prompt for the demo agent. */
export const demoPrompt = 'Write hello.md';
