import { examples } from '../getting-started/examples.ts';
import { home as texts } from '../texts/home.ts';

/** Prompts for a user who has started no session yet. */
export function ExamplePrompts({ onChoose }: { readonly onChoose: (prompt: string) => void }) {
  return (
    <section className="card recent-prompts" aria-labelledby="example-prompts">
      <h2 id="example-prompts">{texts.examplePrompts}</h2>
      <ul>
        {examples.map(({ title, description, prompt }) => (
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
