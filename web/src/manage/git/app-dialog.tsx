import { useState } from 'react';
import { graphql } from 'react-relay';
import type { appDialogMutation } from '../../__generated__/appDialogMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { common } from '../../texts/common.ts';
import { appDialog as texts } from '../../texts/git-connections.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { isLoopback } from './loopback.ts';

const fieldNames = ['githubOrganization', 'host', 'name'];

/** Begins to create a GitHub App: asks for its owner and host, and leads the browser to GitHub. */
export function AppDialog({ onClose }: { readonly onClose: () => void }) {
  const [owner, setOwner] = useState('organization');
  const [isLeaving, setLeaving] = useState(false);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [begin, isBusy] = useSecretMutation<appDialogMutation>(graphql`
    mutation appDialogMutation($input: BeginGithubAppRegistrationInput!) {
      beginGithubAppRegistration(input: $input) {
        registrationUrl
        userErrors {
          message
          path
        }
      }
    }
  `);
  const submit = async (fields: FormFields) => {
    const host = fields.text('host');
    const githubOrganization = owner === 'organization' ? fields.text('githubOrganization') : null;
    const name =
      fields.textOrNull('name') ??
      (githubOrganization === null ? host : texts.defaultName({ organization: githubOrganization, host }));
    const { payload, errors: problems } = await begin({
      input: { host, githubOrganization, name: name.slice(0, 100) },
    });
    setErrors(problems);
    const url = payload?.registrationUrl;
    if (url == null) return;
    setLeaving(true);
    location.assign(url);
  };
  return (
    <FormDialog
      title={texts.title}
      submitLabel={common.continue}
      isBusy={isBusy || isLeaving}
      errors={errors}
      fieldNames={fieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <p className="git-help">{isLoopback(location.hostname) ? texts.introWithoutWebhook : texts.intro}</p>
      <Select label={texts.owner} name="owner" value={owner} onChange={({ target }) => setOwner(target.value)}>
        <option value="organization">{texts.ownerOrganization}</option>
        <option value="person">{texts.ownerAccount}</option>
      </Select>
      {owner === 'organization' && (
        <TextField
          label={common.organization}
          name="githubOrganization"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder={texts.organizationExample}
          hint={texts.organizationHint}
          error={errorOf(errors, 'githubOrganization')}
        />
      )}
      <TextField
        label={common.host}
        name="host"
        required
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        defaultValue="github.com"
        hint={texts.hostHint}
        error={errorOf(errors, 'host')}
      />
      <TextField
        label={texts.connectionName}
        name="name"
        autoComplete="off"
        placeholder={texts.namePlaceholder}
        hint={texts.nameHint}
        error={errorOf(errors, 'name')}
      />
    </FormDialog>
  );
}
