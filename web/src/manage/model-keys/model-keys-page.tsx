import { useCallback, useMemo, useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { Link } from 'wouter';
import type { modelKeysPageQuery } from '../../__generated__/modelKeysPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
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
      <Empty
        title="No access to model keys"
        text="You need the permission to manage the secrets of the organization, or an enterprise role."
      >
        <Link href="/manage/my-model-keys">My model keys</Link>
      </Empty>
    );
  }
  return (
    <Page
      title="Model keys"
      actions={
        <Select
          label="Period of the usage"
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
      <p className="lead">
        Agents call their models with these keys, but never see them. A session uses the key of its user if there is
        one, else the organization’s, else the enterprise’s, else the key in the environment of the service.
      </p>
      <div className="sheets">
        {ofThisOrganization && organization && (
          <KeyList
            title={`Organization ${organization.name}`}
            hint="For sessions in this organization whose user has no key of their own."
            emptyText="This organization has no key yet. Add one that its members share."
            scope={{ organizationId: organization.organizationId }}
            keys={ofThisOrganization}
            onChanged={reload}
          />
        )}
        {ofTheEnterprise && (
          <KeyList
            title="Enterprise"
            hint="For sessions in all organizations that have no key of their own."
            emptyText="The enterprise has no key yet. Add one that all organizations share."
            scope={{ enterprise: true }}
            keys={ofTheEnterprise}
            onChanged={reload}
          />
        )}
      </div>
    </Page>
  );
}
