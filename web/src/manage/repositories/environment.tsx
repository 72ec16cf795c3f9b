import { useRef, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { environment_repository$key } from '../../__generated__/environment_repository.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { environment as texts } from '../../texts/repositories.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextArea } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import { EnvironmentBuilds } from './environment-builds.tsx';
import { EnvironmentInEffect } from './environment-in-effect.tsx';
import { useBuildEnvironment } from './use-build-environment.ts';
import { useUpdateRepository } from './use-update-repository.ts';

const example = texts.example;

/** The environment of a repository: its stored definition, a set-up to try it, and the results of set-ups. */
export function Environment({ repository }: { readonly repository: environment_repository$key }) {
  const data = useFragment(
    graphql`
      fragment environment_repository on Repository {
        repositoryId
        environmentDefinition
        isEnvironmentBuiltOnPush
        ...environmentBuilds_repository
        ...environmentInEffect_repository
      }
    `,
    repository,
  );
  const { repositoryId, environmentDefinition, isEnvironmentBuiltOnPush } = data;
  const { may, organization } = useSigned();
  const {
    mayChange,
    isBusy,
    errors: saveErrors,
    onSubmit,
  } = useUpdateRepository(
    repositoryId,
    (fields) => {
      const text = fields.raw('environmentDefinition');
      return {
        environmentDefinition: text.trim() === '' ? null : text,
        isEnvironmentBuiltOnPush: fields.isOn('isEnvironmentBuiltOnPush'),
      };
    },
    texts.saved,
  );
  const toasts = useToasts();
  const form = useRef<HTMLFormElement>(null);
  const [buildErrors, setBuildErrors] = useState<readonly FormProblem[] | null>(null);
  const [build, isBuilding] = useBuildEnvironment(repositoryId, organization?.organizationId ?? '');
  // A text that is not saved needs the permission to save it.
  const tryIt = async () => {
    if (form.current === null) return;
    const text = new FormFields(form.current).raw('environmentDefinition');
    const isChanged = mayChange && text.trim() !== '' && text !== (environmentDefinition ?? '');
    const refused = await build(isChanged ? text : null);
    setBuildErrors(refused);
    if (refused === null) toasts.say(texts.setUpStarted);
  };
  const errors = buildErrors ?? saveErrors;
  return (
    <section className="card sheet" aria-labelledby="environment">
      <header>
        <h2 id="environment">{texts.environment}</h2>
        <p>{texts.intro}</p>
      </header>
      <form
        className="form code-form"
        ref={form}
        onSubmit={(event) => {
          setBuildErrors(null);
          onSubmit(event);
        }}
      >
        <TextArea
          label={texts.definitionYaml}
          name="environmentDefinition"
          key={environmentDefinition}
          rows={10}
          spellCheck={false}
          readOnly={!mayChange}
          defaultValue={environmentDefinition ?? ''}
          placeholder={example}
          hint={texts.definitionHint}
          error={errorOf(errors, 'environmentDefinition')}
        />
        <label className="check" key={`on push ${isEnvironmentBuiltOnPush}`}>
          <input
            type="checkbox"
            name="isEnvironmentBuiltOnPush"
            defaultChecked={isEnvironmentBuiltOnPush}
            disabled={!mayChange}
          />{' '}
          {texts.onPush}
        </label>
        <FormErrors errors={errors} fieldNames={['environmentDefinition']} />
        <div className="buttons">
          {may('USE_SESSIONS') && (
            <Button isBusy={isBuilding} onClick={() => void tryIt()}>
              {texts.tryIt}
            </Button>
          )}
          {mayChange && (
            <Button type="submit" tone="primary" isBusy={isBusy}>
              {texts.saveEnvironment}
            </Button>
          )}
        </div>
      </form>
      <EnvironmentInEffect repository={data} />
      <EnvironmentBuilds repository={data} mayDelete={mayChange} />
    </section>
  );
}
