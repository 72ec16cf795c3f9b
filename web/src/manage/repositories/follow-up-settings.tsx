import { graphql, useFragment } from 'react-relay';
import type { followUpSettings_repository$key } from '../../__generated__/followUpSettings_repository.graphql.ts';
import type { UpdateRepositoryInput } from '../../__generated__/useUpdateRepositoryMutation.graphql.ts';
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
    'Saved the follow-ups.',
  );
  return (
    <form className="card sheet form" aria-labelledby="follow-ups" onSubmit={onSubmit}>
      <header>
        <h2 id="follow-ups">Follow-ups</h2>
        <p>Failed checks, reviews, comments and conflicts of a pull request go to the session that works on it.</p>
      </header>
      <Select
        label="Follow-ups"
        name="followUpMode"
        key={`mode ${followUpMode}`}
        defaultValue={followUpMode ?? ''}
        disabled={!mayChange}
        hint="Suggest lists a follow-up on the page of the session, where a person sends it."
        error={errorOf(errors, 'followUpMode')}
      >
        <option value="">Automatic for pull requests that sessions opened, else Suggest</option>
        <option value="OFF">Off</option>
        <option value="SUGGEST">Suggest</option>
        <option value="AUTO">Automatic</option>
      </Select>
      <Select
        label="People"
        name="followUpAuthors"
        key={`authors ${followUpAuthors}`}
        defaultValue={followUpAuthors}
        disabled={!mayChange}
        error={errorOf(errors, 'followUpAuthors')}
      >
        <option value="WRITERS">People who may write to the repository</option>
        <option value="EVERYONE">Everyone who may comment</option>
      </Select>
      <Select
        label="Bots"
        name="followUpBots"
        key={`bots ${followUpBots}`}
        defaultValue={followUpBots}
        disabled={!mayChange}
        error={errorOf(errors, 'followUpBots')}
      >
        <option value="NONE">Only the accounts below</option>
        <option value="ALL">All bots</option>
      </Select>
      <TextField
        label="Accounts whose comments always count"
        name="followUpBotLogins"
        key={`logins ${followUpBotLogins.join()}`}
        defaultValue={followUpBotLogins.join(', ')}
        disabled={!mayChange}
        spellCheck={false}
        hint="Separate the logins with commas."
        error={errorOf(errors, 'followUpBotLogins')}
      />
      <label className="check" key={`archive ${isArchivedWhenMerged}`}>
        <input
          type="checkbox"
          name="isArchivedWhenMerged"
          defaultChecked={isArchivedWhenMerged}
          disabled={!mayChange}
        />{' '}
        Archive a session when its pull requests are merged or closed
      </label>
      <FormErrors
        errors={errors}
        fieldNames={['followUpMode', 'followUpAuthors', 'followUpBots', 'followUpBotLogins']}
      />
      {mayChange && (
        <div className="buttons">
          <Button type="submit" tone="primary" isBusy={isBusy}>
            Save follow-ups
          </Button>
        </div>
      )}
    </form>
  );
}
