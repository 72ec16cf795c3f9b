import { graphql, useFragment } from 'react-relay';
import type { branchSettings_repository$key } from '../../__generated__/branchSettings_repository.graphql.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { FormErrors } from '../kit/kit.ts';
import { useUpdateRepository } from './use-update-repository.ts';

const switches = {
  isPushToOtherBranchesAllowed: 'Sessions may push to all branches, not only to their own',
  isPushOfTagsAllowed: 'Sessions may create and update tags',
  isDeletionAllowed: 'Sessions may delete the branches and tags that they may push to',
} as const;

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
    'Saved the branches and pushes.',
  );
  return (
    <form className="card sheet form" aria-labelledby="branches" onSubmit={onSubmit}>
      <header>
        <h2 id="branches">Branches and pushes</h2>
        <p>
          The settings count for all organizations. Pushes follow them from the next one on, also those of running
          sessions.
        </p>
      </header>
      <TextField
        label="Branch template"
        name="branchTemplate"
        key={branchTemplate}
        defaultValue={branchTemplate ?? ''}
        disabled={!mayChange}
        spellCheck={false}
        placeholder="switchyard/{slug}-{short id}"
        hint="Leave empty to use the template of the organization. {slug} is the title of the session, and {short id} is the end of its ID, which every template needs."
        error={errorOf(errors, 'branchTemplate')}
      />
      <fieldset className="field-group" disabled={!mayChange}>
        <legend>Additional pushes</legend>
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
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
