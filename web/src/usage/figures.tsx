import type { ReactNode } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { figures_consumption$key } from '../__generated__/figures_consumption.graphql.ts';
import type { figures_metrics$key } from '../__generated__/figures_metrics.graphql.ts';
import { nameOf } from '../ui/actor.ts';
import { writeNumber } from '../ui/number.ts';
import { visible } from '../ui/visible.ts';
import type { Bar } from './bars.tsx';
import { daysBetween } from './days.ts';
import { Figure } from './figure.tsx';

interface FiguresProps {
  readonly consumption: figures_consumption$key;
  readonly metrics: figures_metrics$key;
  readonly from: string;
  readonly to: string;
  /** True if the numbers cover several organizations. */
  readonly hasOrganizations?: boolean;
}

const outcomes: Readonly<Record<string, string>> = {
  OPEN: 'Not ended',
  FINISHED: 'Finished',
  TERMINATED: 'Terminated',
  EXPIRED: 'Expired',
  FAILED: 'Failed',
};

const sizes: Readonly<Record<string, string>> = {
  XS: 'XS, less than 1 ACU',
  S: 'S, less than 3',
  M: 'M, less than 6',
  L: 'L, less than 12',
  XL: 'XL, 12 or more',
};

/** All charts for a range of days. */
export function Figures({ consumption, metrics, from, to, hasOrganizations = false }: FiguresProps) {
  const used = useFragment(
    graphql`
      fragment figures_consumption on Consumption {
        totalAcus
        days {
          date
          acus
        }
        actors(first: 100) {
          nodes {
            acus
            actor {
              id
              displayName
            }
          }
          pageInfo {
            hasNextPage
          }
        }
        playbooks(first: 100) {
          nodes {
            playbookId
            acus
            playbook {
              title
            }
          }
          pageInfo {
            hasNextPage
          }
        }
        organizations(first: 100) {
          nodes {
            organizationId
            acus
            organization {
              name
            }
          }
          pageInfo {
            hasNextPage
          }
        }
      }
    `,
    consumption,
  );
  const { sessions, pullRequests, activeUserCount } = useFragment(
    graphql`
      fragment figures_metrics on Metrics {
        activeUserCount
        sessions {
          count
          averageAcus
          byOutcome {
            outcome
            count
          }
          bySize {
            size
            count
          }
        }
        pullRequests {
          createdCount
          mergedCount
        }
      }
    `,
    metrics,
  );
  const byDay = new Map(used.days.map(({ date, acus }) => [date, acus]));
  const actors = used.actors.nodes.map(({ actor, acus }) => ({
    label: nameOf(actor) ?? 'Unknown',
    value: acus,
  }));
  const playbooks = used.playbooks.nodes.map(({ playbookId, playbook, acus }) => ({
    label: playbook ? visible(playbook.title) : (playbookId ?? 'No playbook'),
    value: acus,
  }));
  const organizations = used.organizations.nodes.map(({ organizationId, organization, acus }) => ({
    label: organization ? visible(organization.name) : organizationId,
    value: acus,
  }));
  const totals = [
    ['ACUs', writeNumber(used.totalAcus)],
    ['Sessions', writeNumber(sessions.count)],
    ['ACUs per session', sessions.averageAcus == null ? 'none' : writeNumber(sessions.averageAcus)],
    [
      'Active users',
      <>
        {writeNumber(activeUserCount)}{' '}
        {activeUserCount === 0 && sessions.count > 0 && <small>service users only</small>}
      </>,
    ],
    [
      'Pull requests',
      <>
        {pullRequests.createdCount} <small>{pullRequests.mergedCount} merged</small>
      </>,
    ],
  ] as const satisfies readonly (readonly [string, ReactNode])[];
  const file = (name: string) => `${name}-${from}-${to}`;
  const shares = [
    ...(hasOrganizations ? [{ of: 'Organization', bars: organizations, pageInfo: used.organizations.pageInfo }] : []),
    { of: 'User', bars: actors, pageInfo: used.actors.pageInfo },
    { of: 'Playbook', bars: playbooks, pageInfo: used.playbooks.pageInfo },
  ];
  return (
    <>
      <dl className="totals">
        {totals.map(([label, value]) => (
          <div className="card" key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="figures">
        <Figure
          title="ACUs by day"
          kind="columns"
          heads={['Day', 'ACUs']}
          file={file('acus-by-day')}
          bars={daysBetween(from, to).map((day) => ({ label: day, value: byDay.get(day) ?? 0 }))}
        />
        {shares.map(({ of, bars, pageInfo }) => (
          <Figure
            key={of}
            title={`ACUs by ${of.toLowerCase()}`}
            kind="rows"
            heads={[of, 'ACUs']}
            file={file(`acus-by-${of.toLowerCase()}`)}
            bars={sorted(bars)}
            note={pageInfo.hasNextPage ? 'The chart counts only the newest 100.' : null}
          />
        ))}
        <Figure
          title="Sessions by outcome"
          kind="rows"
          heads={['Outcome', 'Sessions']}
          file={file('sessions-by-outcome')}
          bars={sessions.byOutcome.map(({ outcome, count }) => ({ label: outcomes[outcome] ?? outcome, value: count }))}
        />
        <Figure
          title="Sessions by size"
          kind="rows"
          heads={['Size', 'Sessions']}
          file={file('sessions-by-size')}
          bars={sessions.bySize.map(({ size, count }) => ({ label: sizes[size] ?? size, value: count }))}
        />
      </div>
    </>
  );
}

// Largest first. Equal names are distinguished, in React keys and in the table.
function sorted(bars: readonly Bar[]): readonly Bar[] {
  const seen = new Map<string, number>();
  return bars
    .toSorted((one, other) => other.value - one.value)
    .map(({ label, value }) => {
      const count = (seen.get(label) ?? 0) + 1;
      seen.set(label, count);
      return { label: count === 1 ? label : `${label} (${count})`, value };
    });
}
