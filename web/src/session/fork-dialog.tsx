import { useState } from 'react';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { forkDialogMutation } from '../__generated__/forkDialogMutation.graphql.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { forkDialog as texts } from '../texts/session-details.ts';
import { errorOf, TextArea, TextField } from '../ui/field.tsx';
import { sessionAddress } from './address.ts';
import { Point, type PointDialogProps } from './point.tsx';

const fieldNames = ['prompt', 'title'];

/** A dialog that starts a session from a checkpoint of another one, and opens its page. */
export function ForkDialog({ sessionId, point, onClose }: PointDialogProps) {
  const [, go] = useLocation();
  const keyOf = useAttemptKey();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [hasPrompt, setHasPrompt] = useState(false);
  const [fork, isBusy] = useMutation<forkDialogMutation>(
    graphql`
      mutation forkDialogMutation($input: ForkSessionInput!) {
        forkSession(input: $input) {
          session {
            sessionId
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
  const submit = async (fields: FormFields) => {
    const input = {
      sessionId,
      point: { checkpointId: point.value },
      prompt: fields.textOrNull('prompt'),
      title: fields.textOrNull('title'),
    };
    const { payload, errors: refused } = await fork({ input: { ...input, idempotencyKey: keyOf(input) } });
    setErrors(refused);
    if (payload?.session) go(sessionAddress(payload.session.sessionId));
  };
  return (
    <FormDialog
      title={texts.title}
      submitLabel={texts.fork}
      size="large"
      isBusy={isBusy}
      errors={errors}
      fieldNames={fieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <Point point={point} />
      <p>{texts.text}</p>
      <TextArea
        label={common.prompt}
        name="prompt"
        rows={5}
        hint={texts.promptHint}
        error={errorOf(errors, 'prompt')}
        onChange={({ target }) => setHasPrompt(target.value.trim() !== '')}
      />
      <TextField
        label={common.title}
        name="title"
        placeholder={hasPrompt ? common.titleFromPrompt : texts.titlePlaceholder}
        error={errorOf(errors, 'title')}
      />
    </FormDialog>
  );
}
