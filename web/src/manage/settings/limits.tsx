import { type FormEvent, useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import type { limits_enterprise$data, limits_enterprise$key } from '../../__generated__/limits_enterprise.graphql.ts';
import type { limitsDeleteMutation } from '../../__generated__/limitsDeleteMutation.graphql.ts';
import type { limitsEnterpriseMutation } from '../../__generated__/limitsEnterpriseMutation.graphql.ts';
import type { limitsPaginationQuery } from '../../__generated__/limitsPaginationQuery.graphql.ts';
import type { limitsUpdateMutation } from '../../__generated__/limitsUpdateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { acus } from '../../texts/acus.ts';
import { common } from '../../texts/common.ts';
import { limits as texts } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { InfoTip } from '../../ui/info-tip.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { actionsColumn, FormDialog, FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';

type Organization = limits_enterprise$data['organizations']['edges'][number]['node'];

/** The ACU limits of the enterprise and its organizations per cycle. */
export function Limits({ enterprise }: { readonly enterprise: limits_enterprise$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    limitsPaginationQuery,
    limits_enterprise$key
  >(
    graphql`
      fragment limits_enterprise on Enterprise
      @refetchable(queryName: "limitsPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        id
        maxCycleAcuLimit
        organizations(first: $count, after: $cursor) @connection(key: "limits_organizations") {
          edges {
            node {
              id
              organizationId
              name
              maxCycleAcuLimit
            }
          }
        }
      }
    `,
    enterprise,
  );
  const { maxCycleAcuLimit, organizations } = data;
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [changing, setChanging] = useState<Organization | null>(null);
  const [update, isBusy] = useMutation<limitsEnterpriseMutation>(
    graphql`
      mutation limitsEnterpriseMutation($input: UpdateEnterpriseInput!) {
        updateEnterprise(input: $input) {
          enterprise {
            id
            maxCycleAcuLimit
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
    const limit = new FormFields(event.currentTarget).number('maxCycleAcuLimit');
    const { errors: refused } = await update({ input: { maxCycleAcuLimit: limit } });
    setErrors(refused);
    if (refused === null) toasts.say(texts.enterpriseLimitSaved);
  };
  const columns: readonly Column<Organization>[] = [
    { label: common.organization, cell: ({ name }) => name },
    { label: common.monthlyAcuLimit, isNumber: true, cell: (each) => each.maxCycleAcuLimit ?? common.noLimit },
    actionsColumn((each) => (
      <Button size="small" aria-label={texts.editLimit({ name: each.name })} onClick={() => setChanging(each)}>
        {common.edit}
      </Button>
    )),
  ];
  return (
    <section className="card sheet" aria-labelledby="limits">
      <header>
        <div className="with-tip">
          <h2 id="limits">{texts.acuLimits}</h2>
          <InfoTip label={acus.question} text={acus.explanation} />
        </div>
        <p>{texts.intro}</p>
      </header>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <div className="add-line">
          <TextField
            label={texts.enterpriseLimit}
            name="maxCycleAcuLimit"
            type="number"
            min={0}
            placeholder={common.noLimit}
            defaultValue={maxCycleAcuLimit ?? ''}
            error={errorOf(errors, 'maxCycleAcuLimit')}
          />
          <Button type="submit" isBusy={isBusy}>
            {texts.saveLimit}
          </Button>
        </div>
        <FormErrors errors={errors} fieldNames={['maxCycleAcuLimit']} />
      </form>
      <Table
        label={texts.listLabel}
        columns={columns}
        rows={organizations.edges.map(({ node }) => node)}
        keyOf={({ id }) => id}
      />
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(50)} />
      {changing && <LimitForm organization={changing} onClose={() => setChanging(null)} />}
    </section>
  );
}

interface LimitFormProps {
  readonly organization: Organization;
  readonly onClose: () => void;
}

function LimitForm({ organization, onClose }: LimitFormProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isUpdating] = useMutation<limitsUpdateMutation>(
    graphql`
      mutation limitsUpdateMutation($input: SetAcuLimitInput!) {
        setAcuLimit(input: $input) {
          acuLimit {
            organization {
              id
              maxCycleAcuLimit
            }
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
  const [remove, isRemoving] = useMutation<limitsDeleteMutation>(
    graphql`
      mutation limitsDeleteMutation($input: DeleteAcuLimitInput!) {
        deleteAcuLimit(input: $input) {
          organization {
            id
            maxCycleAcuLimit
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
  const submit = async (fields: FormFields) => {
    const { organizationId } = organization;
    const limit = fields.number('cycleAcuLimit');
    const { errors: refused } =
      limit === null
        ? await remove({ input: { organizationId } })
        : await update({ input: { organizationId, cycleAcuLimit: limit } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.savedLimit({ name: organization.name }));
    onClose();
  };
  return (
    <FormDialog
      title={texts.limitTitle({ name: organization.name })}
      submitLabel={common.save}
      isBusy={isUpdating || isRemoving}
      errors={errors}
      fieldNames={['cycleAcuLimit']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.monthlyAcuLimit}
        name="cycleAcuLimit"
        type="number"
        min={0}
        autoFocus
        placeholder={common.noLimit}
        defaultValue={organization.maxCycleAcuLimit ?? ''}
        error={errorOf(errors, 'cycleAcuLimit')}
      />
    </FormDialog>
  );
}
