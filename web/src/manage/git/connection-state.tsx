import { graphql, useFragment } from 'react-relay';
import type { connectionState_connection$key } from '../../__generated__/connectionState_connection.graphql.ts';
import { connectionState as texts } from '../../texts/git-connections.ts';
import { Badge } from '../../ui/badge.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { failureLabel, missingPermissions } from './ability-report.ts';

/** The result of a connection's last test, with its time. */
export function ConnectionState({ connection }: { readonly connection: connectionState_connection$key }) {
  const { lastTestedAt, lastFailure, lastReport } = useFragment(
    graphql`
      fragment connectionState_connection on GitConnection {
        lastTestedAt
        lastFailure {
          code
          message
          at
        }
        lastReport {
          abilities {
            ability
            permission
            isGranted
            isRequired
          }
          warnings
        }
      }
    `,
    connection,
  );
  if (lastFailure != null) {
    return (
      <span className="git-state">
        <Badge tone="bad">{failureLabel(lastFailure.code)}</Badge>
        <span className="under">
          {visible(lastFailure.message)} (<Time at={lastFailure.at} />)
        </span>
      </span>
    );
  }
  if (lastReport == null || lastTestedAt == null) return <Badge>{texts.notTested}</Badge>;
  const missing = missingPermissions(lastReport.abilities);
  const [warning] = lastReport.warnings;
  return (
    <span className="git-state">
      {missing.length > 0 ? (
        <Badge tone="warn">{texts.lacksPermissions}</Badge>
      ) : (
        <Badge tone="good">{texts.works}</Badge>
      )}
      <span className="under">
        {missing.length > 0 && `${visible(missing.join(', '))}. `}
        {missing.length === 0 && warning !== undefined && `${visible(warning)} `}
        <RichText text={texts.tested} slots={{ time: <Time at={lastTestedAt} /> }} />
      </span>
    </span>
  );
}
