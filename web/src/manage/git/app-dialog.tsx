import { useState } from 'react';
import { graphql } from 'react-relay';
import type { appDialogMutation } from '../../__generated__/appDialogMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { isLoopback } from './loopback.ts';

const noWebhook = 'The App has a webhook only if GitHub can reach this service: set BASE_URL to its public address.';

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
    const name = fields.textOrNull('name') ?? (githubOrganization === null ? host : `${githubOrganization} at ${host}`);
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
      title="Create a GitHub App"
      submitLabel="Continue"
      isBusy={isBusy || isLeaving}
      errors={errors}
      fieldNames={fieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <p className="git-help">
        GitHub creates an App with the permissions that sessions need, and leads you back here. You then choose the
        repositories that it may use. {isLoopback(location.hostname) ? noWebhook : 'The App also has a webhook.'}
      </p>
      <Select label="Owner" name="owner" value={owner} onChange={({ target }) => setOwner(target.value)}>
        <option value="organization">An organization at GitHub</option>
        <option value="person">My account at GitHub</option>
      </Select>
      {owner === 'organization' && (
        <TextField
          label="Organization"
          name="githubOrganization"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="acme"
          hint="The name as in github.com/NAME. You must be an owner of it, or manage its Apps."
          error={errorOf(errors, 'githubOrganization')}
        />
      )}
      <TextField
        label="Host"
        name="host"
        required
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        defaultValue="github.com"
        hint="github.com, or the host of a GitHub Enterprise Server."
        error={errorOf(errors, 'host')}
      />
      <TextField
        label="Name of the connection"
        name="name"
        autoComplete="off"
        placeholder="Name in lists and messages"
        hint="If you leave it empty, the name is made of the owner and the host."
        error={errorOf(errors, 'name')}
      />
    </FormDialog>
  );
}
