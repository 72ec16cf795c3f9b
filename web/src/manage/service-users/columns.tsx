import { Link } from 'wouter';
import { common } from '../../texts/common.ts';
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
  label: common.name,
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
  { label: common.expires, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : common.never) },
  { label: common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
