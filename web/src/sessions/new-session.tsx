import { useLocation } from 'wouter';
import { common } from '../texts/common.ts';
import { newSession as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { NewSessionForm } from './new-session-form.tsx';
import { useNewSession } from './use-new-session.ts';

interface NewSessionProps {
  readonly organizationId: string;
  /** The repository to begin with; null: the default ones. */
  readonly repository: string | null;
  /** The playbook to begin with, by its id; null: none. */
  readonly playbookId: string | null;
  readonly onClose: () => void;
}

/** The dialog that starts a session and opens its page. */
export function NewSession({ organizationId, repository, playbookId, onClose }: NewSessionProps) {
  const [, go] = useLocation();
  // Replaces the dialog in the history, so that Back leads to the list.
  const onStarted = (address: string) => go(address, { replace: true });
  const draft = useNewSession({ organizationId, repository, onStarted });
  return (
    <Dialog
      title={common.newSession}
      size="large"
      onClose={onClose}
      isDirty={draft.isDirty}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            type="submit"
            form={draft.form}
            tone="primary"
            isBusy={draft.isBusy}
            disabled={!draft.uploads.areSent}
          >
            {texts.start}
          </Button>
        </>
      }
    >
      <NewSessionForm draft={draft} playbookId={playbookId} />
    </Dialog>
  );
}
