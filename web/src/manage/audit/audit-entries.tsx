import { graphql, useFragment, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { auditEntries_enterprise$key } from '../../__generated__/auditEntries_enterprise.graphql.ts';
import type {
  auditEntries_entry$data,
  auditEntries_entry$key,
} from '../../__generated__/auditEntries_entry.graphql.ts';
import type { auditEntries_organization$key } from '../../__generated__/auditEntries_organization.graphql.ts';
import type { auditEntriesEnterprisePaginationQuery } from '../../__generated__/auditEntriesEnterprisePaginationQuery.graphql.ts';
import type { auditEntriesOrganizationPaginationQuery } from '../../__generated__/auditEntriesOrganizationPaginationQuery.graphql.ts';
import { sessionAddress } from '../../session/address.ts';
import { plainTitle } from '../../session/plain-title.ts';
import { auditPage as texts } from '../../texts/audit.ts';
import { common } from '../../texts/common.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import type { Column } from '../../ui/table.tsx';
import { DateTime } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { List } from '../kit/kit.ts';
import { actionText } from './action-text.ts';
import { useTargetNames } from './use-target-names.ts';

const pageSize = 50;

/** The entries of one organization. */
export function OrganizationEntries({ organization }: { readonly organization: auditEntries_organization$key }) {
  const { data, ...pages } = usePaginationFragment<
    auditEntriesOrganizationPaginationQuery,
    auditEntries_organization$key
  >(
    graphql`
      fragment auditEntries_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "auditEntriesOrganizationPaginationQuery")
      @argumentDefinitions(
        filter: { type: "AuditLogFilter" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        auditLog(first: $count, after: $cursor, filter: $filter)
          @connection(key: "auditEntries_auditLog", filters: ["filter"]) {
          edges {
            node {
              ...auditEntries_entry
            }
          }
        }
      }
    `,
    organization,
  );
  return <Entries entries={data.auditLog.edges.map(({ node }) => node)} {...pages} />;
}

/** The entries of the enterprise and of all its organizations. */
export function EnterpriseEntries({ enterprise }: { readonly enterprise: auditEntries_enterprise$key }) {
  const { data, ...pages } = usePaginationFragment<auditEntriesEnterprisePaginationQuery, auditEntries_enterprise$key>(
    graphql`
      fragment auditEntries_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "auditEntriesEnterprisePaginationQuery")
      @argumentDefinitions(
        filter: { type: "AuditLogFilter" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        auditLog(first: $count, after: $cursor, filter: $filter)
          @connection(key: "auditEntries_auditLog", filters: ["filter"]) {
          edges {
            node {
              ...auditEntries_entry
            }
          }
        }
      }
    `,
    enterprise,
  );
  return <Entries entries={data.auditLog.edges.map(({ node }) => node)} {...pages} hasOrganizations />;
}

interface EntriesProps {
  readonly entries: auditEntries_entry$key;
  readonly hasNext: boolean;
  readonly isLoadingNext: boolean;
  readonly loadNext: (count: number) => void;
  /** True if the entries are of several organizations. */
  readonly hasOrganizations?: boolean;
}

type Entry = auditEntries_entry$data[number];

function Entries({ entries, hasNext, isLoadingNext, loadNext, hasOrganizations = false }: EntriesProps) {
  const rows = useFragment(
    graphql`
      fragment auditEntries_entry on AuditLogEntry @relay(plural: true) {
        id
        action
        actorName
        address
        createdAt
        organizationId
        organization {
          name
        }
        session {
          sessionId
          title
        }
        automation {
          automationId
          name
        }
        targetId
        data
      }
    `,
    entries,
  );
  const names = useTargetNames(rows.map(({ targetId, session }) => (session ? null : (targetId ?? null))));
  const columns: readonly Column<Entry>[] = [
    { label: common.time, cell: ({ createdAt }) => <DateTime at={createdAt} /> },
    { label: texts.actor, cell: (entry) => <Actor {...entry} /> },
    {
      label: texts.action,
      cell: ({ action, targetId, session }) => (
        <div>
          {action ? actionText(action) : texts.unknownAction}
          {targetId && !session && !isOfMessage(targetId) && (
            <span className="under target" title={targetId}>
              {visible(names.get(targetId) ?? targetId)}
            </span>
          )}
          {session && (
            <Link className="under target" href={sessionAddress(session.sessionId)} title={plainTitle(session.title)}>
              {plainTitle(session.title)}
            </Link>
          )}
        </div>
      ),
    },
    ...(hasOrganizations ? [{ label: common.organization, cell: organizationOf }] : []),
    { label: texts.ipAddress, cell: ({ address }) => address && <code className="ip-address">{address}</code> },
    {
      label: texts.details,
      cell: ({ data: more }) =>
        more && typeof more === 'object' && Object.keys(more).length > 0 ? <JsonTree value={more} depth={2} /> : null,
    },
  ];
  return (
    <List
      label={texts.auditLog}
      columns={columns}
      edges={rows.map((node) => ({ node }))}
      keyOf={({ id }) => id}
      empty={{ title: common.noMatches, text: hasOrganizations ? texts.noMatchesText : texts.noMatchesHereText }}
      hasMore={hasNext}
      isLoading={isLoadingNext}
      onMore={() => loadNext(pageSize)}
    />
  );
}

/** The principal; with an automation, both, or the automation alone if no user owns it. */
function Actor({ actorName, automation }: Pick<Entry, 'actorName' | 'automation'>) {
  if (!automation) {
    return (
      <div className="actor">{actorName ? visible(actorName) : <span className="soft">{texts.keyOrService}</span>}</div>
    );
  }
  return (
    <div className="actor">
      {actorName && visible(actorName)}
      <Link className={actorName ? 'under' : undefined} href={`/manage/automations/${automation.automationId}`}>
        {texts.automation({ name: visible(automation.name) })}
      </Link>
    </div>
  );
}

// The id of a message says nothing without its session.
const isOfMessage = (targetId: string) => targetId.startsWith('event-');

// A deleted organization has only its id.
function organizationOf({ organization, organizationId }: Entry) {
  if (organization) return visible(organization.name);
  return organizationId ?? <span className="soft">{common.enterprise}</span>;
}
