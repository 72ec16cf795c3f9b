import { Suspense, useState } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { usedSessions_consumption$key } from '../__generated__/usedSessions_consumption.graphql.ts';
import type { usedSessionsQuery } from '../__generated__/usedSessionsQuery.graphql.ts';
import { sessionAddress } from '../session/address.ts';
import { usedSessions as texts } from '../texts/usage.ts';
import { nameOf } from '../ui/actor.ts';
import { Button } from '../ui/button.tsx';
import { writeUsd } from '../ui/money.ts';
import { columnFormat } from '../ui/number.ts';
import { Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { visible } from '../ui/visible.ts';
import { type Days, writeDay } from './days.ts';
import type { Shown } from './use-usage-view.ts';

interface UsedSessionsProps {
  /** Null: the whole enterprise. */
  readonly organizationId: string | null;
  readonly shown: Shown;
  readonly days: Days;
  readonly onClose: () => void;
}

/** The sessions behind a number: those that used ACUs on a day, or those of a principal in the period. */
export function UsedSessions({ organizationId, shown, days, onClose }: UsedSessionsProps) {
  const range = shown.day ? { from: shown.day, to: shown.day } : days;
  const title = shown.day
    ? texts.titleDay({ day: writeDay(shown.day) })
    : texts.titleUser({ from: writeDay(range.from), to: writeDay(range.to) });
  const key = [organizationId, range.from, range.to, shown.user, shown.serviceUser].join(' ');
  return (
    <section key={key} ref={intoView} className="card used-sessions" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Button size="small" tone="quiet" icon="close" aria-label={texts.close} onClick={onClose} />
      </header>
      <Suspense fallback={<Loading label={title} rows={2} />}>
        <Pages {...{ organizationId, shown, range, title }} />
      </Suspense>
    </section>
  );
}

// The place where it opens may be below the window.
const intoView = (panel: HTMLElement | null) => panel?.scrollIntoView({ block: 'nearest' });

interface PagesProps {
  readonly organizationId: string | null;
  readonly shown: Shown;
  readonly range: Days;
  readonly title: string;
}

function Pages({ organizationId, shown, range, title }: PagesProps) {
  // The cursors of the pages up to the current one; the first page has none.
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const { user, serviceUser } = shown;
  const ofServiceUser = serviceUser ? { serviceUserId: serviceUser } : null;
  const { organization, enterprise } = useLazyLoadQuery<usedSessionsQuery>(
    graphql`
      query usedSessionsQuery(
        $id: ID!
        $isEnterprise: Boolean!
        $from: Date!
        $to: Date!
        $principal: PrincipalInput
        $after: String
      ) {
        organization(id: $id) @skip(if: $isEnterprise) {
          consumption(from: $from, to: $to, principal: $principal) {
            ...usedSessions_consumption @arguments(after: $after)
          }
        }
        enterprise @include(if: $isEnterprise) {
          consumption(from: $from, to: $to, principal: $principal) {
            ...usedSessions_consumption @arguments(after: $after)
          }
        }
      }
    `,
    {
      id: organizationId ?? '',
      isEnterprise: organizationId === null,
      ...range,
      principal: user ? { userId: user } : ofServiceUser,
      after: cursors.at(-1) ?? null,
    },
    { fetchPolicy: 'store-and-network' },
  );
  const consumption = (organization ?? enterprise)?.consumption;
  if (!consumption) return null;
  return (
    <SessionTable
      {...{ consumption, title }}
      onNewer={cursors.length > 0 ? () => setCursors(cursors.slice(0, -1)) : null}
      onOlder={(cursor) => setCursors([...cursors, cursor])}
    />
  );
}

interface SessionTableProps {
  readonly consumption: usedSessions_consumption$key;
  readonly title: string;
  readonly onNewer: (() => void) | null;
  readonly onOlder: (cursor: string) => void;
}

function SessionTable({ consumption, title, onNewer, onOlder }: SessionTableProps) {
  const { sessions } = useFragment(
    graphql`
      fragment usedSessions_consumption on Consumption @argumentDefinitions(after: { type: "String" }) {
        sessions(first: 50, after: $after) {
          nodes {
            sessionId
            title
            acus
            costUsd
            session {
              id
            }
            actor {
              displayName
            }
          }
          pageInfo {
            endCursor
            hasNextPage
          }
        }
      }
    `,
    consumption,
  );
  const { nodes, pageInfo } = sessions;
  if (nodes.length === 0 && !onNewer) return <p className="soft">{texts.none}</p>;
  const { endCursor, hasNextPage } = pageInfo;
  // The service lists the newest first. Sorted are only rows that are all of them.
  const hasCost = nodes.some(({ costUsd }) => costUsd > 0);
  const writeAcus = columnFormat(nodes.map(({ acus }) => acus));
  const isWhole = !onNewer && !hasNextPage;
  const rows = isWhole ? nodes.toSorted((one, other) => other.acus - one.acus) : nodes;
  return (
    <>
      <p className="soft">{isWhole ? texts.sortedByAcus : texts.newestFirst}</p>
      <Table
        label={title}
        rows={rows}
        keyOf={({ sessionId }) => sessionId}
        columns={[
          {
            label: texts.session,
            cell: ({ sessionId, title: name, session }) => {
              const text = visible(name || texts.untitled);
              return session ? <Link href={sessionAddress(sessionId)}>{text}</Link> : text;
            },
          },
          { label: texts.startedBy, cell: ({ actor }) => nameOf(actor) ?? texts.service },
          { label: texts.acus, isNumber: true, cell: ({ acus }) => writeAcus(acus) },
          ...(hasCost
            ? [{ label: texts.cost, isNumber: true, cell: ({ costUsd }: (typeof rows)[number]) => writeUsd(costUsd) }]
            : []),
        ]}
      />
      {(onNewer || hasNextPage) && (
        <div className="actions">
          <Button size="small" disabled={!onNewer} onClick={() => onNewer?.()}>
            {texts.newer}
          </Button>
          <Button size="small" disabled={!hasNextPage} onClick={() => endCursor && onOlder(endCursor)}>
            {texts.older}
          </Button>
        </div>
      )}
    </>
  );
}
