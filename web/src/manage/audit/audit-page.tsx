import { Suspense, useDeferredValue } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { auditPageQuery } from '../../__generated__/auditPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useUrlParams } from '../../layout/use-url-params.ts';
import { auditPage as texts } from '../../texts/audit.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorBoundary } from '../../ui/error-boundary.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { fixedChoices } from '../../ui/use-choices.ts';
import { actionText } from './action-text.ts';
import { auditActions } from './audit-actions.ts';
import { EnterpriseEntries, OrganizationEntries } from './audit-entries.tsx';
import { AuditExport } from './audit-export.tsx';
import { type AuditFilter, filterNames, filterOf } from './audit-filter.ts';
import { useActorChoices } from './use-actor-choices.ts';

const actions = fixedChoices(
  auditActions
    .map((action) => ({ value: action, label: actionText(action) }))
    .toSorted((one, other) => one.label.localeCompare(other.label)),
);

/** `/manage/audit-log`: the audit log of the enterprise with its organizations, or of the organization alone. */
export function AuditPage() {
  const { organization } = useSigned();
  const { values, isAny, change, clear } = useUrlParams(filterNames);
  // The current entries stay, dimmed, until the new ones arrive.
  const shown = useDeferredValue(values);
  const id = organization?.organizationId ?? '';
  const actors = useActorChoices(id);
  if (!organization) return <Empty title={common.noOrganization} />;
  return (
    <Page title={texts.auditLog} actions={<AuditExport organizationId={id} filter={values} />}>
      <search className="tool-row">
        <Select label={common.scope} value={values.scope} onChange={({ target }) => change({ scope: target.value })}>
          <option value="">{texts.allOrganizations}</option>
          <option value="organization">{organization.name}</option>
        </Select>
        <Picker
          label={texts.actor}
          none={texts.anyone}
          source={actors}
          value={values.by}
          onChange={(by) => change({ by })}
        />
        <Picker
          label={texts.action}
          none={texts.anyAction}
          source={actions}
          value={values.action}
          onChange={(action) => change({ action })}
        />
        <TextField
          label={texts.from}
          type="date"
          value={values.from}
          onChange={({ target }) => change({ from: target.value })}
        />
        <TextField
          label={texts.to}
          type="date"
          value={values.to}
          onChange={({ target }) => change({ to: target.value })}
        />
        {isAny && (
          <Button tone="quiet" icon="close" onClick={clear}>
            {texts.clear}
          </Button>
        )}
      </search>
      <ErrorBoundary resetKey={JSON.stringify(shown)}>
        <Suspense fallback={<Loading label={texts.loadingTheAuditLog} />}>
          <div className={shown === values ? undefined : 'stale'}>
            <Log organizationId={id} filter={shown} />
          </div>
        </Suspense>
      </ErrorBoundary>
    </Page>
  );
}

interface LogProps {
  readonly organizationId: string;
  readonly filter: AuditFilter;
}

function Log({ organizationId, filter }: LogProps) {
  const isEnterprise = filter.scope === '';
  const { organization, enterprise } = useLazyLoadQuery<auditPageQuery>(
    graphql`
      query auditPageQuery($id: ID!, $isEnterprise: Boolean!, $filter: AuditLogFilter) {
        organization(id: $id) @skip(if: $isEnterprise) {
          ...auditEntries_organization @arguments(filter: $filter)
        }
        enterprise @include(if: $isEnterprise) {
          ...auditEntries_enterprise @arguments(filter: $filter)
        }
      }
    `,
    { id: organizationId, isEnterprise, filter: filterOf(filter) },
    { fetchPolicy: 'store-and-network' },
  );
  if (enterprise) return <EnterpriseEntries enterprise={enterprise} />;
  if (organization) return <OrganizationEntries organization={organization} />;
  return <Empty title={common.noOrganization} />;
}
