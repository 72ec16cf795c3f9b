import type { useEditSession_session$key } from '../__generated__/useEditSession_session.graphql.ts';
import { editSession as texts } from '../texts/session-details.ts';
import { Button } from '../ui/button.tsx';
import { useEditSession } from './use-edit-session.tsx';

/** A button that renames a session and changes its tags. */
export function EditSession({ session }: { readonly session: useEditSession_session$key }) {
  const [edit, dialog] = useEditSession(session);
  return (
    <>
      <Button size="small" icon="edit" onClick={edit}>
        {texts.label}
      </Button>
      {dialog}
    </>
  );
}
