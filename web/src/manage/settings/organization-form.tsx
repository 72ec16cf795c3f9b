import { type FormEvent, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { organizationForm_organization$key } from '../../__generated__/organizationForm_organization.graphql.ts';
import type { organizationFormMutation } from '../../__generated__/organizationFormMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import type { ChosenRepository } from '../../pickers/chosen-repository.ts';
import { ModelPicker } from '../../pickers/model-picker.tsx';
import { RepositoriesPicker } from '../../pickers/repositories-picker.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { organizationForm as texts } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { checkBranchTemplate } from '../kit/checks.ts';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';

interface OrganizationFormProps {
  readonly organization: organizationForm_organization$key;
  readonly agents: readonly {
    readonly agentId: string;
    readonly name: string;
    readonly providers: readonly string[];
  }[];
}

/** Names of the fields for the default model of an agent begin with this. */
const modelPrefix = 'model:';

/** The quotas of an organization, with their labels. */
const quotas = [
  ['maxConcurrentSessions', common.maxConcurrentSessions],
  ['maxQueuedSessions', texts.maxQueuedSessions],
  ['maxStorageMb', texts.maxStorageMb],
  ['maxTokensPerDay', texts.maxTokensPerDay],
] as const;

/** The organization's name, agent and limits. */
export function OrganizationForm({ organization, agents }: OrganizationFormProps) {
  const found = useFragment(
    graphql`
      fragment organizationForm_organization on Organization {
        id
        organizationId
        name
        defaultAgent
        defaultModels {
          agentId
          model
        }
        defaultRepositories
        branchTemplate
        maxCycleAcuLimit
        maxSessionAcuLimit
        maxConcurrentSessions
        maxQueuedSessions
        maxStorageMb
        maxTokensPerDay
      }
    `,
    organization,
  );
  const { may } = useSigned();
  const modelAgents = agents.filter(({ providers }) => providers.length > 0);
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  // Null: unchanged.
  const [repositories, setRepositories] = useState<readonly ChosenRepository[] | null>(null);
  const [update, isBusy] = useMutation<organizationFormMutation>(
    graphql`
      mutation organizationFormMutation($input: UpdateOrganizationInput!) {
        updateOrganization(input: $input) {
          organization {
            ...organizationForm_organization
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
  // The list replaces the one before: models of agents that are not there now stay in it.
  const readModels = (fields: FormFields) => [
    ...found.defaultModels.filter(({ agentId }) => !modelAgents.some((each) => each.agentId === agentId)),
    ...modelAgents.flatMap(({ agentId }) => {
      const model = fields.textOrNull(`${modelPrefix}${agentId}`);
      return model === null ? [] : [{ agentId, model }];
    }),
  ];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormFields(event.currentTarget);
    const { errors: refused } = await update({
      input: {
        organizationId: found.organizationId,
        name: fields.text('name'),
        defaultAgent: fields.textOrNull('defaultAgent'),
        defaultModels: readModels(fields),
        branchTemplate: fields.textOrNull('branchTemplate'),
        ...(repositories && { defaultRepositories: repositories.map(({ repository }) => repository) }),
        maxCycleAcuLimit: fields.number('maxCycleAcuLimit'),
        maxSessionAcuLimit: fields.number('maxSessionAcuLimit'),
        ...Object.fromEntries(quotas.map(([name]) => [name, fields.number(name)])),
      },
    });
    setErrors(refused);
    if (refused !== null) return;
    setRepositories(null);
    toasts.say(texts.organizationSaved);
  };
  const mayChange = may('MANAGE_ORGANIZATIONS');
  return (
    <form className="card sheet form" aria-labelledby="general" onSubmit={(event) => void submit(event)}>
      <header>
        <h2 id="general">{texts.general}</h2>
      </header>
      <div className="fields pairs">
        <TextField
          label={common.name}
          name="name"
          required
          readOnly={!mayChange}
          defaultValue={found.name}
          error={errorOf(errors, 'name')}
        />
        <Select
          label={texts.defaultAgent}
          name="defaultAgent"
          disabled={!mayChange}
          defaultValue={found.defaultAgent ?? ''}
          error={errorOf(errors, 'defaultAgent')}
        >
          <option value="">{common.serviceDefault}</option>
          {agents.map(({ agentId, name }) => (
            <option value={agentId} key={agentId}>
              {name}
            </option>
          ))}
        </Select>
      </div>
      <fieldset className="field-group">
        <legend>{texts.limits}</legend>
        <div className="fields pairs">
          <TextField
            label={common.monthlyAcuLimit}
            name="maxCycleAcuLimit"
            type="number"
            min={0}
            readOnly={!mayChange}
            placeholder={common.noLimit}
            defaultValue={found.maxCycleAcuLimit ?? ''}
            error={errorOf(errors, 'maxCycleAcuLimit')}
          />
          <TextField
            label={common.sessionAcuLimit}
            name="maxSessionAcuLimit"
            type="number"
            min={0}
            readOnly={!mayChange}
            placeholder={common.noLimit}
            defaultValue={found.maxSessionAcuLimit ?? ''}
            error={errorOf(errors, 'maxSessionAcuLimit')}
          />
          {quotas.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              hint={texts.quotaHint}
              name={name}
              type="number"
              min={0}
              readOnly={!mayChange}
              placeholder={common.serviceDefault}
              defaultValue={found[name] ?? ''}
              error={errorOf(errors, name)}
            />
          ))}
        </div>
      </fieldset>
      {modelAgents.length > 0 && (
        <fieldset className="field-group">
          <legend>{texts.defaultModels}</legend>
          <p className="hint">{texts.defaultModelsHint}</p>
          <div className="fields pairs">
            {modelAgents.map(({ agentId, name }) => (
              <ModelPicker
                key={agentId}
                label={name}
                name={`${modelPrefix}${agentId}`}
                agentId={agentId}
                organizationId={found.organizationId}
                none={texts.agentsDefault}
                defaultValue={found.defaultModels.find((each) => each.agentId === agentId)?.model ?? ''}
                isDisabled={!mayChange}
              />
            ))}
          </div>
        </fieldset>
      )}
      <fieldset className="field-group">
        <legend>{common.repositories}</legend>
        <RepositoriesPicker
          organizationId={found.organizationId}
          label={texts.defaultRepositories}
          listName="defaultRepositories"
          hint={texts.defaultRepositoriesHint}
          value={repositories ?? found.defaultRepositories.map((repository) => ({ repository, ref: '', branch: '' }))}
          onChange={setRepositories}
          errors={errors}
          isDisabled={!mayChange}
        />
        <TextField
          label={texts.branchTemplate}
          name="branchTemplate"
          spellCheck={false}
          readOnly={!mayChange}
          placeholder={texts.branchTemplateExample}
          hint={texts.branchTemplateHint}
          check={checkBranchTemplate}
          defaultValue={found.branchTemplate ?? ''}
          error={errorOf(errors, 'branchTemplate')}
        />
      </fieldset>
      <FormErrors
        errors={errors}
        fieldNames={[
          'defaultRepositories',
          'branchTemplate',
          'name',
          'defaultAgent',
          'maxCycleAcuLimit',
          'maxSessionAcuLimit',
          ...quotas.map(([name]) => name),
        ]}
      />
      {mayChange && (
        <div className="buttons">
          <Button type="submit" tone="primary" isBusy={isBusy}>
            {common.save}
          </Button>
        </div>
      )}
    </form>
  );
}
