import { graphql, useFragment } from 'react-relay';
import type { mentionSettings_repository$key } from '../../__generated__/mentionSettings_repository.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select } from '../../ui/field.tsx';
import { visible } from '../../ui/visible.ts';
import { FormErrors } from '../kit/kit.ts';
import { useUpdateRepository } from './use-update-repository.ts';

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
  const { organization } = useSigned();
  const { mayChange, isBusy, errors, onSubmit } = useUpdateRepository(
    repositoryId,
    (fields) => ({
      isMentionAnswered: fields.isOn('isMentionAnswered'),
      mentionOrganizationId: fields.textOrNull('mentionOrganizationId'),
    }),
    'Saved the settings of mentions.',
  );
  const chosenId = mentionOrganization?.organizationId ?? '';
  const offered = [mentionOrganization, organization].flatMap((each) => (each ? [each] : []));
  const choices = new Map(offered.map((each) => [each.organizationId, each.name]));
  return (
    <form className="card sheet form" aria-labelledby="mentions" onSubmit={onSubmit}>
      <header>
        <h2 id="mentions">Mentions</h2>
        <p>
          People who may write to the repository can start a session at the forge: they mention the service in an issue,
          a pull request, a comment or a review, usually as <code>@switchyard</code>. Mentions need the webhooks of the
          git connection.
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
