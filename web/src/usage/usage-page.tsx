import { useDeferredValue, useState } from 'react';
import { useSigned } from '../app/gate.tsx';
import { Page } from '../layout/page.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { Empty } from '../ui/states.tsx';
import { daysProblem, lastDays } from './days.ts';
import { EnterpriseUsage } from './enterprise-usage.tsx';
import { OrganizationUsage } from './organization-usage.tsx';
import { Queue } from './queue.tsx';
import '../manage/kit/kit.ts';
import './usage.css';

/** `/usage`: consumption and results for a range of days, by user and by category. */
export function UsagePage() {
  const { organization, may } = useSigned();
  const seesEnterprise = may('VIEW_ACCOUNT_CONSUMPTION') && may('VIEW_ACCOUNT_METRICS');
  const [days, setDays] = useState(() => lastDays(30));
  const [of, setOf] = useState<'organization' | 'enterprise'>('organization');
  const problem = daysProblem(days.from, days.to);
  const wanted = useDeferredValue(problem === null ? days : null);
  if (!organization) return <Empty title="No organization" />;
  return (
    <Page title="Usage" actions={may('VIEW_ACCOUNT_METRICS') && <Queue />}>
      <div className="tool-row days">
        {seesEnterprise && (
          <Select label="Scope" value={of} onChange={(event) => setOf(event.target.value as typeof of)}>
            <option value="organization">{organization.name}</option>
            <option value="enterprise">All organizations</option>
          </Select>
        )}
        <TextField
          label="From"
          type="date"
          value={days.from}
          onChange={(event) => setDays({ ...days, from: event.target.value })}
        />
        <TextField
          label="To"
          type="date"
          value={days.to}
          error={problem}
          onChange={(event) => setDays({ ...days, to: event.target.value })}
        />
        <div className="actions">
          {[7, 30, 90].map((count) => (
            <Button key={count} onClick={() => setDays(lastDays(count))}>
              {count} days
            </Button>
          ))}
        </div>
      </div>
      {wanted &&
        (of === 'enterprise' && seesEnterprise ? (
          <EnterpriseUsage {...wanted} />
        ) : (
          <OrganizationUsage organizationId={organization.organizationId} {...wanted} />
        ))}
    </Page>
  );
}
