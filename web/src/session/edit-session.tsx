import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { editSession_session$key } from '../__generated__/editSession_session.graphql.ts';
import type { editSessionMutation } from '../__generated__/editSessionMutation.graphql.ts';
import { usePageActions } from '../layout/page-actions.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { editSession as texts } from '../texts/session-details.ts';
import { Button } from '../ui/button.tsx';
import { errorOf, TextField } from '../ui/field.tsx';

const fieldNames = ['title', 'tags'];

interface EditSessionProps {
  readonly session: editSession_session$key;
  /** True for a button without a label beside the title, whose action is in the palette too. */
  readonly isBesideTitle?: boolean;
}

/** A button and a dialog that rename a session and change its tags. Only what was edited is sent. */
export function EditSession({ session: reference, isBesideTitle = false }: EditSessionProps) {
  const { sessionId, tags, ...session } = useFragment(
    graphql`
      fragment editSession_session on Session {
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
  const [update, isBusy] = useMutation<editSessionMutation>(
    graphql`
      mutation editSessionMutation($input: UpdateSessionInput!) {
        updateSession(input: $input) {
          session {
            ...editSession_session
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
  return (
    <>
      {isBesideTitle ? (
        <>
          <Button size="small" tone="quiet" icon="edit" aria-label={texts.rename} onClick={() => setOpen(true)} />
          <EditAction onEdit={() => setOpen(true)} />
        </>
      ) : (
        <Button size="small" icon="edit" onClick={() => setOpen(true)}>
          {texts.label}
        </Button>
      )}
      {isOpen && (
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
      )}
    </>
  );
}

function EditAction({ onEdit }: { readonly onEdit: () => void }) {
  usePageActions([{ label: texts.rename, icon: 'edit', run: onEdit }]);
  return null;
}

/** The tags in a text, in which commas separate them. */
const tagsIn = (text: string) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
