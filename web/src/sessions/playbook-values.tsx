import './playbook-values.css';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { playbookValuesQuery } from '../__generated__/playbookValuesQuery.graphql.ts';
import { playbookValues as texts } from '../texts/playbook-values.ts';
import { TextField } from '../ui/field.tsx';
import { visible } from '../ui/visible.ts';
import { placeholdersIn } from './placeholders.ts';

/** The names of the fields begin with this. */
export const valuePrefix = 'value:';

/** The name of the hidden field with the title of a playbook that has placeholders. */
export const playbookTitle = 'playbookTitle';

/** The text of a playbook, which is closed at first, and a field for each placeholder in it. */
export function PlaybookValues({ playbookId }: { readonly playbookId: string }) {
  const { playbook } = useLazyLoadQuery<playbookValuesQuery>(
    graphql`
      query playbookValuesQuery($playbookId: ID!) {
        playbook(by: { id: $playbookId }) {
          title
          body
        }
      }
    `,
    { playbookId },
  );
  const names = placeholdersIn(playbook?.body ?? '');
  if (!playbook) return null;
  const text = (
    <details className="playbook-text">
      <summary>{texts.showPlaybook}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled by keys. */}
      <pre tabIndex={0}>{visible(playbook.body)}</pre>
    </details>
  );
  if (names.length === 0) return text;
  const fields = (
    <fieldset className="playbook-values">
      <legend>{texts.legend}</legend>
      <input type="hidden" name={playbookTitle} value={playbook.title} />
      <p className="hint">{texts.hint}</p>
      <div className="fields">
        {names.map((name) => (
          <TextField label={visible(name)} name={`${valuePrefix}${name}`} maxLength={2_000} key={name} />
        ))}
      </div>
    </fieldset>
  );
  return (
    <>
      {text}
      {fields}
    </>
  );
}
