import type { ReactNode } from 'react';
import { graphql, useFragment } from 'react-relay';
import { useSearch } from 'wouter';
import type {
  figures_consumption$data,
  figures_consumption$key,
} from '../__generated__/figures_consumption.graphql.ts';
import type { figures_metrics$key } from '../__generated__/figures_metrics.graphql.ts';
import { usageFigures as texts, usageFigure } from '../texts/usage.ts';
import { nameOf } from '../ui/actor.ts';
import { visible } from '../ui/visible.ts';
import { AcusByDay, type ConsumptionOfDay } from './acus-by-day.tsx';
import { type Bar, BarList } from './bar-list.tsx';
import type { Days } from './days.ts';
import { Figure } from './figure.tsx';
import { shownAddress } from './use-usage-view.ts';

interface FiguresProps {
  readonly consumption: figures_consumption$key;
  readonly metrics: figures_metrics$key;
  readonly days: Days;
  /** The consumption of the previous period; null: not compared. */
  readonly daysBefore: readonly ConsumptionOfDay[] | null;
  /** True if the numbers cover several organizations. */
  readonly hasOrganizations?: boolean;
  /** The sessions of a day, below the chart of days; false: no day is chosen. */
  readonly ofDay?: ReactNode;
  /** The sessions of a principal, below the chart of principals; false: none is chosen. */
  readonly ofPrincipal?: ReactNode;
}

/** All charts for a range of days. */
export function Figures(props: FiguresProps) {
  const { consumption, metrics, days, daysBefore, hasOrganizations = false, ofDay, ofPrincipal } = props;
  const search = useSearch();
  const used = useFragment(
    graphql`
      fragment figures_consumption on Consumption {
        totalCostUsd
        days {
          date
          acus
          costUsd
        }
        actors(first: 100) {
          nodes {
            acus
            costUsd
            actor {
              __typename
              id
              displayName
              ... on User {
                userId
              }
              ... on ServiceUser {
                serviceUserId
              }
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
            costUsd
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
            costUsd
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
  const { sessions } = useFragment(
    graphql`
      fragment figures_metrics on Metrics {
        sessions {
          byOutcome {
            outcome
            count
          }
          bySize {
            size
            count
          }
        }
      }
    `,
    metrics,
  );
  const { from, to } = days;
  const file = (name: string) => `${name}-${from}-${to}`;
  // The list of sessions is of one organization, so only its numbers lead there.
  const sessionsWith = (filter: Readonly<Record<string, string>>) =>
    hasOrganizations ? undefined : `/sessions?${new URLSearchParams({ from, to, archived: 'all', ...filter })}`;
  const shares: readonly { title: string; head: string; file: string; bars: readonly Bar[]; isCut: boolean }[] = [
    ...(hasOrganizations
      ? [
          {
            title: texts.acusByOrganization,
            head: texts.organization,
            file: 'acus-by-organization',
            bars: used.organizations.nodes.map(({ organizationId, organization, acus, costUsd }) => ({
              label: organization ? visible(organization.name) : organizationId,
              value: acus,
              costUsd,
            })),
            isCut: used.organizations.pageInfo.hasNextPage,
          },
        ]
      : []),
    {
      title: texts.acusByUser,
      head: texts.user,
      file: 'acus-by-user',
      bars: used.actors.nodes.map(({ actor, acus, costUsd }) => ({
        label: actorLabel(actor),
        value: acus,
        costUsd,
        address:
          actor?.userId || actor?.serviceUserId
            ? shownAddress(search, { user: actor.userId ?? '', serviceUser: actor.serviceUserId ?? '' })
            : undefined,
      })),
      isCut: used.actors.pageInfo.hasNextPage,
    },
    {
      title: texts.acusByPlaybook,
      head: texts.playbook,
      file: 'acus-by-playbook',
      bars: used.playbooks.nodes.map(({ playbookId, playbook, acus, costUsd }) => ({
        label: playbook ? visible(playbook.title) : (playbookId ?? texts.noPlaybook),
        value: acus,
        costUsd,
        address: playbookId ? sessionsWith({ playbook: playbookId }) : undefined,
      })),
      isCut: used.playbooks.pageInfo.hasNextPage,
    },
  ];
  return (
    <div className="figures">
      <AcusByDay days={days} used={used.days} before={daysBefore} file={file('acus-by-day')} />
      {ofDay}
      {shares.map(({ title, head, file: name, bars, isCut }) => (
        <Bars
          key={title}
          {...{ title, bars: sorted(bars), file: file(name) }}
          heads={used.totalCostUsd > 0 ? [head, texts.acus, texts.cost] : [head, texts.acus]}
          note={isCut && texts.newestOnly}
        />
      ))}
      {ofPrincipal}
      <Bars
        title={texts.sessionsByOutcome}
        heads={[texts.outcome, texts.sessions]}
        file={file('sessions-by-outcome')}
        bars={sessions.byOutcome.map(({ outcome, count }) => ({
          label: texts.outcomes[outcome as keyof typeof texts.outcomes] ?? outcome,
          value: count,
          address: count === 0 ? undefined : sessionsWith({ outcome }),
        }))}
      />
      <Bars
        title={texts.sessionsBySize}
        heads={[texts.size, texts.sessions]}
        file={file('sessions-by-size')}
        bars={sessions.bySize.map(({ size, count }) => ({
          label: texts.sizes[size as keyof typeof texts.sizes] ?? size,
          value: count,
        }))}
      />
    </div>
  );
}

interface BarsProps {
  readonly title: string;
  readonly heads: readonly string[];
  readonly bars: readonly Bar[];
  readonly file: string;
  readonly note?: string | false;
}

/** A figure of horizontal bars. */
function Bars({ title, heads, bars, file, note }: BarsProps) {
  return (
    <Figure
      {...{ title, heads, file, note }}
      moneyHead={texts.cost}
      rows={bars.map(({ label, value, costUsd = 0, address }) => ({
        key: label,
        label,
        values: heads.length > 2 ? [value, costUsd] : [value],
        address,
      }))}
    >
      <BarList label={usageFigure.asChart({ title })} bars={bars} />
    </Figure>
  );
}

type Actor = figures_consumption$data['actors']['nodes'][number]['actor'];

function actorLabel(actor: Actor): string {
  const name = nameOf(actor) ?? texts.unknownUser;
  return actor?.serviceUserId ? texts.serviceUser({ name }) : name;
}

// Largest first. Equal names are distinguished, in React keys and in the table.
function sorted(bars: readonly Bar[]): readonly Bar[] {
  const seen = new Map<string, number>();
  return bars
    .toSorted((one, other) => other.value - one.value)
    .map((bar) => {
      const count = (seen.get(bar.label) ?? 0) + 1;
      seen.set(bar.label, count);
      return count === 1 ? bar : { ...bar, label: `${bar.label} (${count})` };
    });
}
