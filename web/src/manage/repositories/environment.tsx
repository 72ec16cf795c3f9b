import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { environment_repository$key } from '../../__generated__/environment_repository.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { newSessionAddress } from '../../layout/keys.tsx';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextArea } from '../../ui/field.tsx';
import { FormErrors } from '../kit/kit.ts';
import { EnvironmentBuilds } from './environment-builds.tsx';
import { useUpdateRepository } from './use-update-repository.ts';

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
  const { mayChange, isBusy, errors, onSubmit } = useUpdateRepository(
    repositoryId,
    (fields) => {
      const text = fields.raw('environmentDefinition');
      return { environmentDefinition: text.trim() === '' ? null : text };
    },
    'Saved the environment. New sessions use it.',
  );
  return (
    <section className="card sheet" aria-labelledby="environment">
      <header>
        <h2 id="environment">Environment</h2>
        <p>
          The commands that set the repository up before an agent starts. The service stores the result, and later
          sessions start with it.
        </p>
      </header>
      <form className="form code-form" onSubmit={onSubmit}>
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
