import { type FormEvent, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { environment_repository$key } from '../../__generated__/environment_repository.graphql.ts';
import type { environmentMutation } from '../../__generated__/environmentMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { newSessionAddress } from '../../layout/keys.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextArea } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import { EnvironmentBuilds } from './environment-builds.tsx';

const example = 'setup:\n  - npm ci\nstart: npm run dev\nsecrets: [NPM_TOKEN]\n';

/** The environment of a repository: its stored definition, a session to try it, and the results of set-ups. */
export function Environment({ repository }: { readonly repository: environment_repository$key }) {
  const data = useFragment(
    graphql`
      fragment environment_repository on Repository {
        repositoryId
        host
        path
        environmentDefinition
        ...environmentBuilds_repository
      }
    `,
    repository,
  );
  const { repositoryId, host, path, environmentDefinition } = data;
  const { may } = useSigned();
  const mayChange = may('MANAGE_ORGANIZATIONS');
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<environmentMutation>(
    graphql`
      mutation environmentMutation($input: UpdateRepositoryInput!) {
        updateRepository(input: $input) {
          repository {
            ...environment_repository
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
    const text = new FormFields(event.currentTarget).raw('environmentDefinition');
    const definition = text.trim() === '' ? null : text;
    const { errors: refused } = await update({ input: { repositoryId, environmentDefinition: definition } });
    setErrors(refused);
    if (refused === null) toasts.say('Saved the environment. New sessions use it.');
  };
  return (
    <section className="card sheet" aria-labelledby="environment">
      <header>
        <h2 id="environment">Environment</h2>
        <p>
          The commands that set the repository up before an agent starts. The service stores the result, and later
          sessions start with it.
        </p>
      </header>
      <form className="form code-form" onSubmit={(event) => void submit(event)}>
        <TextArea
          label="Definition (YAML)"
          name="environmentDefinition"
          key={environmentDefinition}
          rows={10}
          spellCheck={false}
          readOnly={!mayChange}
          defaultValue={environmentDefinition ?? ''}
          placeholder={example}
          hint="Leave empty to use the repository’s own file, such as .switchyard/environment.yaml. The members are setup, start, env, secrets, timeout_minutes and lockfiles."
          error={errorOf(errors, 'environmentDefinition')}
        />
        <FormErrors errors={errors} fieldNames={['environmentDefinition']} />
        <div className="buttons">
          {may('USE_SESSIONS') && (
            <Link
              className="button"
              href={`${newSessionAddress}&${new URLSearchParams({ repository: `${host}/${path}` })}`}
            >
              Try it in a new session
            </Link>
          )}
          {mayChange && (
            <Button type="submit" tone="primary" isBusy={isBusy}>
              Save environment
            </Button>
          )}
        </div>
      </form>
      <EnvironmentBuilds repository={data} mayDelete={mayChange} />
    </section>
  );
}
