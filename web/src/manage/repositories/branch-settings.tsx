import { graphql, useFragment } from 'react-relay';
import type { branchSettings_repository$key } from '../../__generated__/branchSettings_repository.graphql.ts';
import { common } from '../../texts/common.ts';
import { branchSettings as texts } from '../../texts/repositories.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { FormErrors } from '../kit/kit.ts';
import { useUpdateRepository } from './use-update-repository.ts';

const switches = texts.switches;

/** The branches of sessions in a repository, and the pushes that sessions may make. */
export function BranchSettings({ repository }: { readonly repository: branchSettings_repository$key }) {
  const { repositoryId, branchTemplate, ...allowed } = useFragment(
    graphql`
      fragment branchSettings_repository on Repository {
        repositoryId
        branchTemplate
        isPushToOtherBranchesAllowed
        isPushOfTagsAllowed
        isDeletionAllowed
      }
    `,
    repository,
  );
  const { mayChange, isBusy, errors, onSubmit } = useUpdateRepository(
    repositoryId,
    (fields) => ({
      branchTemplate: fields.textOrNull('branchTemplate'),
      isPushToOtherBranchesAllowed: fields.isOn('isPushToOtherBranchesAllowed'),
      isPushOfTagsAllowed: fields.isOn('isPushOfTagsAllowed'),
      isDeletionAllowed: fields.isOn('isDeletionAllowed'),
    }),
    texts.saved,
  );
  return (
    <form className="card sheet form" aria-labelledby="branches" onSubmit={onSubmit}>
      <header>
        <h2 id="branches">{texts.branchesAndPushes}</h2>
        <p>{texts.intro}</p>
      </header>
      <TextField
        label={texts.branchTemplate}
        name="branchTemplate"
        key={branchTemplate}
        defaultValue={branchTemplate ?? ''}
        disabled={!mayChange}
        spellCheck={false}
        placeholder={texts.branchTemplateExample}
        hint={texts.branchTemplateHint}
        error={errorOf(errors, 'branchTemplate')}
      />
      <fieldset className="field-group" disabled={!mayChange}>
        <legend>{texts.additionalPushes}</legend>
        {Object.entries(switches).map(([name, label]) => (
          <label className="check" key={`${name} ${allowed[name as keyof typeof switches]}`}>
            <input type="checkbox" name={name} defaultChecked={allowed[name as keyof typeof switches]} /> {label}
          </label>
        ))}
      </fieldset>
      <FormErrors errors={errors} fieldNames={['branchTemplate']} />
      {mayChange && (
        <div className="buttons">
          <Button type="submit" tone="primary" isBusy={isBusy}>
            {common.save}
          </Button>
        </div>
      )}
    </form>
  );
}
