import { useCallback, useMemo, useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { Link } from 'wouter';
import type { modelKeysPageQuery } from '../../__generated__/modelKeysPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { modelKeysPage as texts } from '../../texts/model-keys.ts';
import { Select } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import { KeyList } from './key-list.tsx';
import { daysOf, type Period, periods } from './period.ts';

const query = graphql`
  query modelKeysPageQuery(
    $id: ID!
    $ofOrganization: Boolean!
    $ofEnterprise: Boolean!
    $from: Date!
    $to: Date!
  ) {
    organization(id: $id) @include(if: $ofOrganization) {
      providerKeys(first: 50) {
        nodes {
          ...keyList_key @arguments(from: $from, to: $to)
        }
      }
    }
    enterprise @include(if: $ofEnterprise) {
      providerKeys(first: 50) {
        nodes {
          ...keyList_key @arguments(from: $from, to: $to)
        }
      }
    }
  }
`;

/** `/manage/model-keys`: the model keys of the enterprise and of the current organization. */
export function ModelKeysPage() {
  const { organization, may } = useSigned();
  const environment = useRelayEnvironment();
  const [period, setPeriod] = useState<Period>('month');
  const ofOrganization = organization !== null && may('MANAGE_ORG_SECRETS');
  const ofEnterprise = may('MANAGE_ENTERPRISE_SETTINGS');
  const variables = useMemo(
    () => ({ id: organization?.organizationId ?? '', ofOrganization, ofEnterprise, ...daysOf(period) }),
    [organization, ofOrganization, ofEnterprise, period],
  );
  const found = useLazyLoadQuery<modelKeysPageQuery>(query, variables, { fetchPolicy: 'store-and-network' });
  const reload = useCallback(
    () =>
      void fetchQuery(environment, query, variables)
        .toPromise()
        .catch(() => undefined),
    [environment, variables],
  );
  const ofThisOrganization = found.organization?.providerKeys?.nodes;
  const ofTheEnterprise = found.enterprise?.providerKeys?.nodes;
  if (!ofThisOrganization && !ofTheEnterprise) {
    return (
      <Empty title={texts.noAccessTitle} text={texts.noAccessText}>
        <Link href="/manage/my-model-keys">{texts.myModelKeys}</Link>
      </Empty>
    );
  }
  return (
    <Page
      title={texts.modelKeys}
      actions={
        <Select
          label={texts.usagePeriod}
          isLabelHidden
          value={period}
          onChange={({ target }) => setPeriod(target.value as Period)}
        >
          {Object.entries(periods).map(([value, label]) => (
            <option value={value} key={value}>
              {label}
            </option>
          ))}
        </Select>
      }
    >
      <p className="lead">{texts.intro}</p>
      <div className="sheets">
        {ofThisOrganization && organization && (
          <KeyList
            title={texts.organizationTitle({ name: organization.name })}
            hint={texts.organizationHint}
            emptyText={texts.organizationEmpty}
            scope={{ organizationId: organization.organizationId }}
            keys={ofThisOrganization}
            onChanged={reload}
          />
        )}
        {ofTheEnterprise && (
          <KeyList
            title={common.enterprise}
            hint={texts.enterpriseHint}
            emptyText={texts.enterpriseEmpty}
            scope={{ enterprise: true }}
            keys={ofTheEnterprise}
            onChanged={reload}
          />
        )}
      </div>
    </Page>
  );
}
