import { demoExample, examples } from '../getting-started/examples.ts';
import { home as texts } from '../texts/home.ts';

interface ExamplePromptsProps {
  /** True if the demo agent gets the prompt. */
  readonly isDemo: boolean;
  readonly onChoose: (prompt: string) => void;
}

/** Prompts for a user who has started no session yet. */
export function ExamplePrompts({ isDemo, onChoose }: ExamplePromptsProps) {
  return (
    <section className="card recent-prompts" aria-labelledby="example-prompts">
      <h2 id="example-prompts">{texts.examplePrompts}</h2>
      <ul>
        {(isDemo ? [demoExample] : examples).map(({ title, description, prompt }) => (
          <li key={title}>
            <button type="button" title={description} onClick={() => onChoose(prompt)}>
              <span>{title}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
