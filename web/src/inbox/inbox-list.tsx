import { inbox as texts } from '../texts/inbox.ts';
import './inbox.css';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useFragment, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type {
  inboxGroupFragment_organization$data,
  inboxGroupFragment_organization$key,
} from '../__generated__/inboxGroupFragment_organization.graphql.ts';
import type { inboxGroupFragmentPaginationQuery } from '../__generated__/inboxGroupFragmentPaginationQuery.graphql.ts';
import type { inboxQuery } from '../__generated__/inboxQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { sessionAddress } from '../session/address.ts';
import { useTurnGuard } from '../sessions/turn-guard.tsx';
import { more as moreTexts } from '../texts/ui.ts';
import { Button } from '../ui/button.tsx';
import { More } from '../ui/more.tsx';
import { ArchiveAll } from './archive-all.tsx';
import { writeCount } from './group-size.ts';
import { inboxGroupFragment } from './inbox-group-fragment.ts';
import { inboxDocument } from './inbox-query.ts';
import { InboxRow } from './inbox-row.tsx';
import { type InboxGroupName, type InboxOf, inboxGroups, type Scope, setScope, useScope } from './inbox-scope.ts';
import { NotificationSwitch } from './notification-switch.tsx';
import { type Archivable, useArchive } from './use-archive.ts';
import { useInboxKeys } from './use-inbox-keys.ts';
import { useOneTabStop } from './use-one-tab-stop.ts';
import { type Pinnable, usePin } from './use-pin.ts';

const pageSize = 25;

/** The scroll position of the list, in pixels, while another page without it is shown. */
let lastTop = 0;

interface InboxListProps {
  readonly inbox: InboxOf;
  /** True on a page of its own, which has the heading. */
  readonly isPage?: boolean;
}

/** The sessions of the viewer in groups: those that need a person, pinned ones, and the others. */
export function InboxList({ inbox, isPage = false }: InboxListProps) {
  const found = useLazyLoadQuery<inboxQuery>(inboxDocument, inbox.variables, { fetchPolicy: 'store-or-network' });
  const [location] = useLocation();
  const scope = useScope();
  const pin = usePin();
  const archive = useArchive(inbox);
  const [guardTurns, turnDialog] = useTurnGuard();
  const askToArchive = useCallback(
    (session: Archivable) => guardTurns('archive', [session], () => archive(session)),
    [guardTurns, archive],
  );
  const { may } = useSigned();
  const { hasMarks } = inbox.variables;
  const mayArchive = hasMarks && may('USE_SESSIONS');
  const scroll = useRef<HTMLDivElement>(null);
  useInboxKeys(scroll);
  useOneTabStop(scroll);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!element) return;
    element.scrollTop = lastTop;
    const remember = () => {
      lastTop = element.scrollTop;
    };
    element.addEventListener('scroll', remember, { passive: true });
    return () => element.removeEventListener('scroll', remember);
  }, []);
  return (
    <section className="inbox" aria-label={texts.title}>
      <div className="inbox-head">
        {!isPage && <h2>{texts.title}</h2>}
        <select
          aria-label={texts.scope}
          value={scope}
          onChange={({ target }) => {
            setScope(target.value as Scope);
            lastTop = 0;
          }}
        >
          <option value="mine">{texts.scopes.mine}</option>
          <option value="all">{texts.scopes.all}</option>
        </select>
        <NotificationSwitch />
      </div>
      {turnDialog}
      {/* The rows are links, which the keys reach: the list needs no focus of its own. */}
      <div className="inbox-scroll" ref={scroll}>
        {inboxGroups.map((group) => {
          const organization = found[group];
          return (
            organization && (
              <InboxGroup
                key={group}
                group={group}
                organization={organization}
                location={location}
                isPage={isPage}
                onPin={hasMarks ? pin : null}
                onArchive={mayArchive ? askToArchive : null}
                inbox={inbox}
              />
            )
          );
        })}
        {found.needsYou && found.working && found.done && (
          <Nothing
            groups={[found.needsYou, found.working, found.done, ...(found.pinned ? [found.pinned] : [])]}
            scope={scope}
          />
        )}
      </div>
    </section>
  );
}

interface InboxGroupProps {
  readonly group: InboxGroupName;
  readonly organization: inboxGroupFragment_organization$key;
  readonly location: string;
  readonly isPage: boolean;
  readonly onPin: ((session: Pinnable) => void) | null;
  readonly onArchive: ((session: Archivable) => void) | null;
  readonly inbox: InboxOf;
}

const closedKey = 'switchyard:inbox-closed';
const closedGroups = () => (localStorage.getItem(closedKey) ?? '').split(' ');

function InboxGroup(props: InboxGroupProps) {
  const { group, organization, location, isPage, onPin, onArchive, inbox } = props;
  const Heading = isPage ? 'h2' : 'h3';
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    inboxGroupFragmentPaginationQuery,
    inboxGroupFragment_organization$key
  >(inboxGroupFragment, organization);
  const [isOpen, setOpen] = useState(() => !closedGroups().includes(group));
  const { edges, totalCount } = data.sessions;
  if (group === 'pinned' && edges.length === 0) return null;
  const label = texts.groups[group];
  const toggle = (next: boolean) => {
    setOpen(next);
    const others = closedGroups().filter((each) => each !== group);
    localStorage.setItem(closedKey, [...others, ...(next ? [] : [group])].join(' ').trim());
  };
  const more = () => loadNext(pageSize);
  return (
    <details className="inbox-group" open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary>
        <Heading>{label}</Heading>{' '}
        <span className={group === 'needsYou' && totalCount > 0 ? 'count needs' : 'count'}>
          {writeCount(totalCount)}
        </span>
      </summary>
      {group === 'done' && onArchive && <ArchiveAll inbox={inbox} count={totalCount} />}
      {edges.length > 0 && (
        <ul aria-label={label}>
          {edges.map(({ node }) => (
            <InboxRow
              key={node.id}
              session={node}
              isCurrent={location === sessionAddress(node.sessionId)}
              onPin={onPin}
              onArchive={onArchive}
            />
          ))}
        </ul>
      )}
      {group === 'done' ? (
        <More hasMore={hasNext} isLoading={isLoadingNext} onMore={more} />
      ) : (
        hasNext && (
          <div className="more">
            <Button size="small" isBusy={isLoadingNext} aria-label={texts.showMore({ group: label })} onClick={more}>
              {moreTexts.showMore}
            </Button>
          </div>
        )
      )}
    </details>
  );
}

interface NothingProps {
  readonly groups: readonly inboxGroupFragment_organization$key[];
  readonly scope: Scope;
}

/** Says that the inbox is empty, if it is. */
function Nothing({ groups, scope }: NothingProps) {
  const [first, second, third, fourth = null] = groups;
  const sizes = [useSize(first), useSize(second), useSize(third), useSize(fourth)];
  if (sizes.some((size) => size > 0)) return null;
  return <p className="hint">{scope === 'mine' ? texts.noneOfMine : texts.noSessions}</p>;
}

function useSize(group: inboxGroupFragment_organization$key | null | undefined): number {
  const data: inboxGroupFragment_organization$data | null | undefined = useFragment(inboxGroupFragment, group);
  return data?.sessions.totalCount ?? 0;
}
