import { Link } from 'wouter';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';

interface NamedRow {
  readonly id: string;
  readonly displayName: string;
  readonly serviceUserId: string;
}

/** The column with the name of a service user, which links to its page. */
export const nameColumn: Column<NamedRow> = {
  label: 'Name',
  cell: ({ id, displayName, serviceUserId }) => (
    <div>
      <Link className="row-link" data-list-item href={`/manage/service-users/${id}`}>
        {visible(displayName)}
      </Link>
      <span className="under">{serviceUserId}</span>
    </div>
  ),
};

interface TimedRow {
  readonly createdAt: string;
  readonly expiresAt: string | null | undefined;
}

/** The columns with the times of a service user. */
export const timeColumns: readonly Column<TimedRow>[] = [
  { label: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'Never') },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];
