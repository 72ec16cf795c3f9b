import { Suspense, useState } from 'react';
import { common } from '../../texts/common.ts';
import { roleList as texts } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { actionsColumn, type FormProblem } from '../kit/kit.ts';
import { type Assign, type RoleAssignment, RoleForm } from './role-form.tsx';

/** A role in a scope, as lists of role assignments have it. */
interface Assignment {
  readonly organizationId: string | null | undefined;
  readonly organization: { readonly name: string } | null | undefined;
  readonly role: { readonly roleId: string; readonly name: string };
}

interface RoleListProps {
  /** The name of the user or group. */
  readonly called: string;
  readonly assignments: readonly Assignment[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
  readonly mayChange: boolean;
  /** The text if there are no roles. */
  readonly noRoles: string;
  /** The consequence of a removal from a scope; null: the enterprise. */
  readonly removeText: (organizationId: string | null) => string;
  readonly assign: Assign;
  readonly unassign: (organizationId: string | null) => Promise<readonly FormProblem[] | null>;
  readonly isBusy: boolean;
  readonly onChanged: () => void;
}

const keyOf = ({ organizationId }: Assignment) => organizationId ?? '';
const nameOf = ({ organizationId, organization }: Assignment) =>
  organizationId == null ? common.enterprise : (organization?.name ?? organizationId);

/** The roles of a user or group, one in each scope, with the forms that change them. */
export function RoleList(props: RoleListProps) {
  const { called, assignments, hasMore, mayChange, assign, isBusy, onChanged } = props;
  const toasts = useToasts();
  const [form, setForm] = useState<RoleAssignment | 'organization' | null>(null);
  const [leaving, setLeaving] = useState<Assignment | null>(null);
  const leave = async () => {
    if (leaving === null) return;
    const errors = await props.unassign(leaving.organizationId ?? null);
    setLeaving(null);
    if (errors !== null) return;
    toasts.say(common.removedName({ name: called }));
    onChanged();
  };
  const columns: readonly Column<Assignment>[] = [
    { label: common.scope, cell: nameOf },
    { label: common.role, cell: ({ role }) => role.name },
    actionsColumn((assignment) =>
      mayChange ? (
        <>
          <Button
            size="small"
            aria-label={texts.editRole({ assignment: nameOf(assignment) })}
            onClick={() =>
              setForm({ organizationId: assignment.organizationId ?? null, roleId: assignment.role.roleId })
            }
          >
            {common.edit}
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={texts.removeFrom({ assignment: nameOf(assignment) })}
            onClick={() => setLeaving(assignment)}
          >
            {common.remove}
          </Button>
        </>
      ) : null,
    ),
  ];
  const isOnEnterprise = assignments.some(({ organizationId }) => organizationId == null);
  return (
    <section className="card sheet" aria-labelledby="roles">
      <header>
        <h2 id="roles">{common.roles}</h2>
        {mayChange && (
          <div className="buttons">
            {!isOnEnterprise && !hasMore && (
              <Button onClick={() => setForm({ organizationId: null, roleId: 'account_member' })}>
                {texts.addEnterpriseRole}
              </Button>
            )}
            <Button icon="plus" onClick={() => setForm('organization')}>
              {texts.addToOrganization}
            </Button>
          </div>
        )}
      </header>
      {assignments.length === 0 ? (
        <p className="soft">{props.noRoles}</p>
      ) : (
        <Table label={common.roles} columns={columns} rows={assignments} keyOf={keyOf} />
      )}
      <More hasMore={hasMore} isLoading={props.isLoading} onMore={props.onMore} />
      {form && (
        <Suspense fallback={null}>
          <RoleForm
            assign={assign}
            isBusy={isBusy}
            assignment={form === 'organization' ? null : form}
            onClose={() => setForm(null)}
            onDone={onChanged}
          />
        </Suspense>
      )}
      {leaving && (
        <Confirm
          title={texts.removeTitle({ called, leaving: nameOf(leaving) })}
          text={props.removeText(leaving.organizationId ?? null)}
          confirmLabel={common.remove}
          isBusy={isBusy}
          onClose={() => setLeaving(null)}
          onConfirm={() => void leave()}
        />
      )}
    </section>
  );
}
