import { Suspense, useDeferredValue, useState } from 'react';
import { useSigned } from '../app/gate.tsx';
import { Page } from '../layout/page.tsx';
import { usagePage as texts } from '../texts/usage.ts';
import { Select, TextField } from '../ui/field.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { EnterpriseUsage } from './enterprise-usage.tsx';
import { OrganizationUsage } from './organization-usage.tsx';
import { Queue } from './queue.tsx';
import { TotalsPlaceholder } from './totals.tsx';
import { type PeriodChoice, useUsageView } from './use-usage-view.ts';
import { UsedSessions } from './used-sessions.tsx';
import '../manage/kit/kit.ts';
import './usage.css';

/** `/usage`: consumption and results for a range of days, by user and by category. */
export function UsagePage() {
  const { organization, may } = useSigned();
  const seesEnterprise = may('VIEW_ACCOUNT_CONSUMPTION') && may('VIEW_ACCOUNT_METRICS');
  const view = useUsageView();
  const { from, to } = view.days;
  const [valid, setValid] = useState<string | null>(null);
  const entered = `${from} ${to}`;
  if (view.problem === null && valid !== entered) setValid(entered);
  // The current charts stay until those of other days arrive, and while the days are no range.
  const wanted = useDeferredValue(valid);
  if (!organization) return <Empty title={texts.noOrganization} />;
  const isEnterprise = view.scope === 'enterprise' && seesEnterprise;
  const organizationId = isEnterprise ? null : organization.organizationId;
  const [wantedFrom = '', wantedTo = ''] = wanted?.split(' ') ?? [];
  const days = { from: wantedFrom, to: wantedTo };
  const { compares, shown } = view;
  const sessions = <UsedSessions {...{ organizationId, shown, days }} onClose={view.close} />;
  const ofDay = shown.day !== '' && sessions;
  const ofPrincipal = (shown.user !== '' || shown.serviceUser !== '') && sessions;
  return (
    <Page
      title={texts.title}
      actions={
        may('VIEW_ACCOUNT_METRICS') && (
          <Suspense fallback={null}>
            <Queue />
          </Suspense>
        )
      }
    >
      <div className="tool-row days">
        {seesEnterprise && (
          <Select label={texts.scope} value={view.scope} onChange={(event) => view.setScope(event.target.value)}>
            <option value="organization">{organization.name}</option>
            <option value="enterprise">{texts.allOrganizations}</option>
          </Select>
        )}
        <Select
          label={texts.period}
          value={view.period}
          onChange={(event) => view.setPeriod(event.target.value as PeriodChoice)}
        >
          {(['7', '30', '90', 'month', 'custom'] as const).map((choice) => (
            <option value={choice} key={choice}>
              {texts.periods[choice]}
            </option>
          ))}
        </Select>
        <TextField
          label={texts.from}
          type="date"
          value={from}
          onChange={(event) => view.setDays({ from: event.target.value, to })}
        />
        <TextField
          label={texts.to}
          type="date"
          value={to}
          error={view.problem}
          onChange={(event) => view.setDays({ from, to: event.target.value })}
        />
        <label className="check">
          <input type="checkbox" checked={compares} onChange={(event) => view.setCompares(event.target.checked)} />
          {texts.compare}
        </label>
      </div>
      {wanted && (
        <div className={view.problem === null ? undefined : 'stale'}>
          <Suspense
            fallback={
              <>
                <TotalsPlaceholder />
                <Loading label={texts.loading} rows={8} />
              </>
            }
          >
            {organizationId === null ? (
              <EnterpriseUsage {...{ days, compares, ofDay, ofPrincipal }} />
            ) : (
              <OrganizationUsage {...{ organizationId, days, compares, ofDay, ofPrincipal }} />
            )}
          </Suspense>
        </div>
      )}
    </Page>
  );
}
