import { graphql, useFragment } from 'react-relay';
import type { followUpSettings_repository$key } from '../../__generated__/followUpSettings_repository.graphql.ts';
import type { UpdateRepositoryInput } from '../../__generated__/useUpdateRepositoryMutation.graphql.ts';
import { followUpSettings as texts } from '../../texts/repositories.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { FormErrors } from '../kit/kit.ts';
import { useUpdateRepository } from './use-update-repository.ts';

/** The settings of follow-ups in a repository: checks, reviews and conflicts that reach sessions, and the archiving of merged work. */
export function FollowUpSettings({ repository }: { readonly repository: followUpSettings_repository$key }) {
  const { repositoryId, followUpMode, followUpAuthors, followUpBots, followUpBotLogins, isArchivedWhenMerged } =
    useFragment(
      graphql`
        fragment followUpSettings_repository on Repository {
          repositoryId
          followUpMode
          followUpAuthors
          followUpBots
          followUpBotLogins
          isArchivedWhenMerged
        }
      `,
      repository,
    );
  const { mayChange, isBusy, errors, onSubmit } = useUpdateRepository(
    repositoryId,
    (fields) => ({
      followUpMode: fields.textOrNull('followUpMode') as UpdateRepositoryInput['followUpMode'],
      followUpAuthors: fields.text('followUpAuthors') as UpdateRepositoryInput['followUpAuthors'],
      followUpBots: fields.text('followUpBots') as UpdateRepositoryInput['followUpBots'],
      followUpBotLogins: fields.list('followUpBotLogins'),
      isArchivedWhenMerged: fields.isOn('isArchivedWhenMerged'),
    }),
    texts.saved,
  );
  return (
    <form className="card sheet form" aria-labelledby="follow-ups" onSubmit={onSubmit}>
      <header>
        <h2 id="follow-ups">{texts.followUps}</h2>
        <p>{texts.intro}</p>
      </header>
      <Select
        label={texts.mode}
        name="followUpMode"
        key={`mode ${followUpMode}`}
        defaultValue={followUpMode ?? ''}
        disabled={!mayChange}
        hint={texts.modeHint}
        error={errorOf(errors, 'followUpMode')}
      >
        <option value="">{texts.automaticForOwn}</option>
        <option value="OFF">{texts.off}</option>
        <option value="SUGGEST">{texts.suggest}</option>
        <option value="AUTO">{texts.automatic}</option>
      </Select>
      <Select
        label={texts.people}
        name="followUpAuthors"
        key={`authors ${followUpAuthors}`}
        defaultValue={followUpAuthors}
        disabled={!mayChange}
        error={errorOf(errors, 'followUpAuthors')}
      >
        <option value="WRITERS">{texts.writers}</option>
        <option value="EVERYONE">{texts.commenters}</option>
      </Select>
      <Select
        label={texts.bots}
        name="followUpBots"
        key={`bots ${followUpBots}`}
        defaultValue={followUpBots}
        disabled={!mayChange}
        error={errorOf(errors, 'followUpBots')}
      >
        <option value="NONE">{texts.listedBots}</option>
        <option value="ALL">{texts.allBots}</option>
      </Select>
      <TextField
        label={texts.botLogins}
        name="followUpBotLogins"
        key={`logins ${followUpBotLogins.join()}`}
        defaultValue={followUpBotLogins.join(', ')}
        disabled={!mayChange}
        spellCheck={false}
        hint={texts.botLoginsHint}
        error={errorOf(errors, 'followUpBotLogins')}
      />
      <label className="check" key={`archive ${isArchivedWhenMerged}`}>
        <input
          type="checkbox"
          name="isArchivedWhenMerged"
          defaultChecked={isArchivedWhenMerged}
          disabled={!mayChange}
        />{' '}
        {texts.archive}
      </label>
      <FormErrors
        errors={errors}
        fieldNames={['followUpMode', 'followUpAuthors', 'followUpBots', 'followUpBotLogins']}
      />
      {mayChange && (
        <div className="buttons">
          <Button type="submit" tone="primary" isBusy={isBusy}>
            {texts.saveFollowUps}
          </Button>
        </div>
      )}
    </form>
  );
}
