import { examples as texts } from '../texts/getting-started.ts';

/** A prompt for a first session. It needs no repository, and its result is visible in the session. */
interface Example {
  readonly title: string;
  readonly description: string;
  readonly prompt: string;
}

/** The examples of the first-run page. */
export const examples: readonly Example[] = [
  {
    title: texts.testedProgram,
    description: texts.testedProgramText,
    prompt: texts.testedProgramPrompt,
  },
  {
    title: texts.browserPage,
    description: texts.browserPageText,
    prompt: texts.browserPagePrompt,
  },
  {
    title: texts.report,
    description: texts.reportText,
    prompt: texts.reportPrompt,
  },
];

/** The example for the demo agent. */
export const demoExample: Example = {
  title: texts.demo,
  description: texts.demoText,
  prompt: texts.demoPrompt,
};
