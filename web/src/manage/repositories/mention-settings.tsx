import { graphql, useFragment } from 'react-relay';
import type { mentionSettings_repository$key } from '../../__generated__/mentionSettings_repository.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { mentionSettings as texts } from '../../texts/repositories.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select } from '../../ui/field.tsx';
import { RichText } from '../../ui/rich-text.tsx';
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
    texts.saved,
  );
  const chosenId = mentionOrganization?.organizationId ?? '';
  const offered = [mentionOrganization, organization].flatMap((each) => (each ? [each] : []));
  const choices = new Map(offered.map((each) => [each.organizationId, each.name]));
  return (
    <form className="card sheet form" aria-labelledby="mentions" onSubmit={onSubmit}>
      <header>
        <h2 id="mentions">{texts.mentions}</h2>
        <p>
          <RichText text={texts.intro} slots={{ switchyard: <code>@switchyard</code> }} />
        </p>
      </header>
      <label className="check" key={`answered ${isMentionAnswered}`}>
        <input type="checkbox" name="isMentionAnswered" defaultChecked={isMentionAnswered} disabled={!mayChange} />{' '}
        {texts.enabled}
      </label>
      <Select
        label={texts.organization}
        name="mentionOrganizationId"
        key={chosenId}
        defaultValue={chosenId}
        disabled={!mayChange}
        hint={texts.organizationHint}
        error={errorOf(errors, 'mentionOrganizationId')}
      >
        <option value="">{texts.onlyOrganization}</option>
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
            {texts.saveMentions}
          </Button>
        </div>
      )}
    </form>
  );
}
