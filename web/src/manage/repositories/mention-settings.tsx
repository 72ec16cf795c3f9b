import { type FormEvent, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { mentionSettings_repository$key } from '../../__generated__/mentionSettings_repository.graphql.ts';
import type { mentionSettingsMutation } from '../../__generated__/mentionSettingsMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';

/** The sessions that people start at the forge, by a mention of the service. */
export function MentionSettings({ repository }: { readonly repository: mentionSettings_repository$key }) {
  const { repositoryId, isMentionAnswered, mentionOrganization } = useFragment(
    graphql`
      fragment mentionSettings_repository on Repository {
        repositoryId
        isMentionAnswered
        mentionOrganization {
          organizationId
          name
        }
      }
    `,
    repository,
  );
  const { may, organization } = useSigned();
  const mayChange = may('MANAGE_ORGANIZATIONS');
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<mentionSettingsMutation>(
    graphql`
      mutation mentionSettingsMutation($input: UpdateRepositoryInput!) {
        updateRepository(input: $input) {
          repository {
            ...mentionSettings_repository
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormFields(event.currentTarget);
    const { errors: refused } = await update({
      input: {
        repositoryId,
        isMentionAnswered: fields.isOn('isMentionAnswered'),
        mentionOrganizationId: fields.textOrNull('mentionOrganizationId'),
      },
    });
    setErrors(refused);
    if (refused === null) toasts.say('Saved the settings of mentions.');
  };
  const chosenId = mentionOrganization?.organizationId ?? '';
  const offered = [mentionOrganization, organization].flatMap((each) => (each ? [each] : []));
  const choices = new Map(offered.map((each) => [each.organizationId, each.name]));
  return (
    <form className="card sheet form" aria-labelledby="mentions" onSubmit={(event) => void submit(event)}>
      <header>
        <h2 id="mentions">Mentions</h2>
        <p>
          People who may write to the repository can start a session at the forge: they mention the service in an issue,
          a pull request, a comment or a review.
        </p>
      </header>
      <label className="check" key={`answered ${isMentionAnswered}`}>
        <input type="checkbox" name="isMentionAnswered" defaultChecked={isMentionAnswered} disabled={!mayChange} />{' '}
        Mentions start sessions
      </label>
      <Select
        label="Organization of the sessions"
        name="mentionOrganizationId"
        key={chosenId}
        defaultValue={chosenId}
        disabled={!mayChange}
        hint="If several organizations may use the repository, choose one. Otherwise mentions start nothing."
        error={errorOf(errors, 'mentionOrganizationId')}
      >
        <option value="">The only one that may use the repository</option>
        {[...choices].map(([id, name]) => (
          <option value={id} key={id}>
            {visible(name)}
          </option>
        ))}
      </Select>
      <FormErrors errors={errors} fieldNames={['mentionOrganizationId']} />
      {mayChange && (
        <div className="buttons">
          <Button type="submit" tone="primary" isBusy={isBusy}>
            Save mentions
          </Button>
        </div>
      )}
    </form>
  );
}
