import { common } from '../../texts/common.ts';
import { connectionReport as texts } from '../../texts/git-connections.ts';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { abilityLabel, abilityState, accountLabel, byUrgency } from './ability-report.ts';
import type { ConnectionTestResult } from './use-connection-test.ts';

/** The report of a test: the account, each permission, and advice. */
export function ConnectionReport({ report }: { readonly report: NonNullable<ConnectionTestResult['report']> }) {
  const { identity, abilities, expiresAt, warnings } = report;
  return (
    <div className="git-report">
      <dl className="facts">
        <dt>{texts.account}</dt>
        <dd>{identity == null ? common.none : visible(accountLabel(identity))}</dd>
        {expiresAt != null && (
          <>
            <dt>{common.expires}</dt>
            <dd>
              <Time at={expiresAt} />
            </dd>
          </>
        )}
      </dl>
      {warnings.map((warning) => (
        <p className="git-warning" key={warning}>
          <Icon name="warning" /> {visible(warning)}
        </p>
      ))}
      <ul className="git-abilities" aria-label={texts.permissionsLabel}>
        {byUrgency(abilities).map((each) => {
          const { label, tone } = abilityState(each);
          return (
            <li key={`${each.ability} ${each.permission}`}>
              <span>
                {abilityLabel(each)}
                <code>{visible(each.permission)}</code>
              </span>
              <Badge tone={tone}>{label}</Badge>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
