import { type ReactNode, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { useEditSession_session$key } from '../__generated__/useEditSession_session.graphql.ts';
import type { useEditSessionMutation } from '../__generated__/useEditSessionMutation.graphql.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { editSession as texts } from '../texts/session-details.ts';
import { errorOf, TextField } from '../ui/field.tsx';

const fieldNames = ['title', 'tags'];

/** A function that opens a dialog, and the dialog while it is open. */
export type DialogOpener = readonly [open: () => void, dialog: ReactNode];

/** The dialog that renames a session and changes its tags. Only what was edited is sent. */
export function useEditSession(reference: useEditSession_session$key): DialogOpener {
  const { sessionId, tags, ...session } = useFragment(
    graphql`
      fragment useEditSession_session on Session {
        sessionId
        title
        tags
      }
    `,
    reference,
  );
  const title = session.title ?? '';
  const [isOpen, setOpen] = useState(false);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<useEditSessionMutation>(
    graphql`
      mutation useEditSessionMutation($input: UpdateSessionInput!) {
        updateSession(input: $input) {
          session {
            ...useEditSession_session
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
  const shownTags = tags.join(', ');
  const close = () => {
    setOpen(false);
    setErrors(null);
  };
  const submit = async (fields: FormFields) => {
    const [newTitle, newTags] = [fields.text('title'), fields.text('tags')];
    const changes = {
      ...(newTitle === title.trim() ? {} : { title: newTitle }),
      ...(newTags === shownTags ? {} : { tags: tagsIn(newTags) }),
    };
    if (Object.keys(changes).length === 0) return close();
    const { errors: refused } = await update({ input: { sessionId, ...changes } });
    setErrors(refused);
    if (refused === null) close();
  };
  const dialog = isOpen && (
    <FormDialog
      title={texts.editSession}
      submitLabel={common.save}
      isBusy={isBusy}
      errors={errors}
      fieldNames={fieldNames}
      onClose={close}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.title}
        name="title"
        required
        maxLength={10_000}
        defaultValue={title}
        error={errorOf(errors, 'title')}
      />
      <TextField
        label={common.tags}
        name="tags"
        hint={texts.tagsHint}
        defaultValue={shownTags}
        error={errorOf(errors, 'tags')}
      />
    </FormDialog>
  );
  return [() => setOpen(true), dialog];
}

/** The tags in a text, in which commas separate them. */
const tagsIn = (text: string) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
