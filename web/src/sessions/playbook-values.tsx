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

/** A field for each placeholder in the text of a playbook; nothing for a playbook without placeholders. */
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
  if (!playbook || names.length === 0) return null;
  return (
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
}
