import { useState } from 'react';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { viewButtonsDeleteMutation } from '../../__generated__/viewButtonsDeleteMutation.graphql.ts';
import type { viewButtonsSetMutation } from '../../__generated__/viewButtonsSetMutation.graphql.ts';
import { hasPersonalState, useSigned } from '../../app/gate.tsx';
import { FormDialog, type FormProblem } from '../../manage/kit/kit.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { savedViews as texts } from '../../texts/sessions.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { type Filters, isSameJson } from '../filters.ts';
import { useSavedViews } from './use-saved-views.ts';

interface ViewButtonsProps {
  readonly filters: Filters;
  /** The filter as the service takes it. */
  readonly filter: Readonly<Record<string, unknown>>;
  readonly isNarrowed: boolean;
}

/** Saves the filters of the list as a view, or renames and deletes the view that is shown. */
export function ViewButtons({ filters, filter, isNarrowed }: ViewButtonsProps) {
  const { organization, viewer } = useSigned();
  const views = useSavedViews();
  const toasts = useToasts();
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [save, isSaving] = useMutation<viewButtonsSetMutation>(
    graphql`
      mutation viewButtonsSetMutation($input: SetSavedViewInput!) {
        setSavedView(input: $input) {
          organization {
            id
            ...useSavedViews_organization
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const [remove, isRemoving] = useMutation<viewButtonsDeleteMutation>(graphql`
    mutation viewButtonsDeleteMutation($input: DeleteSavedViewInput!) {
      deleteSavedView(input: $input) {
        organization {
          id
          ...useSavedViews_organization
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  if (organization === null || !hasPersonalState(viewer)) return null;
  const { organizationId } = organization;
  const current = filters.view
    ? views.find(({ name }) => name === filters.view)
    : views.find((view) => isSameJson(view.filter, filter));
  if (!current && (!isNarrowed || filters.view)) return null;
  if (!current && filters.in !== '' && filters.q === '') return null;
  // A view would keep the day on which the period began.
  const periodReason = filters.created === '' ? null : texts.notForPeriods;
  const refusal = filters.in === '' ? periodReason : texts.notForTranscripts;
  const close = () => {
    setOpen(false);
    setErrors(null);
  };
  const submit = async (name: string) => {
    if (name === current?.name) return close();
    if (views.some((view) => view.name === name)) return setErrors([{ message: texts.nameTaken, path: ['name'] }]);
    const { errors: refused } = await save({ input: { organizationId, name, filter: current?.filter ?? filter } });
    if (refused !== null) return setErrors(refused);
    if (current) await remove({ input: { organizationId, name: current.name } });
    close();
    if (current?.isForeign) go(`/sessions?${new URLSearchParams({ view: name })}`, { replace: true });
    if (!current) toasts.say(texts.saved({ name: visible(name) }));
  };
  const deleteView = async () => {
    if (!current) return;
    const { name, filter: deleted } = current;
    const { errors: refused } = await remove({ input: { organizationId, name } });
    if (refused !== null) return;
    if (current.isForeign) go('/sessions', { replace: true });
    const undo = () => void save({ input: { organizationId, name, filter: deleted } });
    toasts.say(texts.deleted({ name: visible(name) }), undo);
  };
  return (
    <>
      {current ? (
        <span className="view-of-list">
          <span>{texts.current({ name: visible(current.name) })}</span>
          <Button size="small" tone="quiet" icon="edit" aria-label={texts.rename} onClick={() => setOpen(true)} />
          <Button
            size="small"
            tone="quiet"
            icon="trash"
            aria-label={texts.delete}
            isBusy={isRemoving}
            onClick={() => void deleteView()}
          />
        </span>
      ) : (
        // It keeps the focus and says why, also where no pointer shows its tooltip.
        <Button
          size="small"
          tone="quiet"
          icon="filter"
          title={refusal ?? undefined}
          aria-disabled={refusal !== null || undefined}
          onClick={() => (refusal === null ? setOpen(true) : toasts.say(refusal))}
        >
          {texts.save}
        </Button>
      )}
      {isOpen && (
        <FormDialog
          title={current ? texts.rename : texts.save}
          submitLabel={common.save}
          isBusy={isSaving || isRemoving}
          errors={errors}
          fieldNames={['name']}
          onClose={close}
          onSubmit={(fields) => void submit(fields.text('name'))}
        >
          <TextField
            label={common.name}
            name="name"
            hint={texts.nameHint}
            required
            maxLength={100}
            defaultValue={current?.name ?? ''}
            error={errorOf(errors, 'name')}
          />
        </FormDialog>
      )}
    </>
  );
}
