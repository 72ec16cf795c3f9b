import { useState } from 'react';
import { graphql } from 'react-relay';
import type { newHoldMutation } from '../../__generated__/newHoldMutation.graphql.ts';
import { useAllOrganizationChoices } from '../../pickers/use-organization-choices.ts';
import { useUserChoices } from '../../pickers/use-user-choices.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { legalHoldsPage, newHold as texts } from '../../texts/legal-holds.ts';
import { errorOf, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';

/** Returns the ID of the session in a link, or the text as it is. */
function sessionIdIn(text: string): string {
  const digits = /[0-9a-f]{32}/.exec(text)?.[0];
  return digits === undefined ? text : `devin-${digits}`;
}

type Kind = keyof typeof texts.kinds;

function targetInput(kind: Kind, id: string): newHoldMutation['variables']['input']['target'] {
  if (kind === 'session') return { sessionId: id };
  return kind === 'organization' ? { organizationId: id } : { userId: id };
}

interface NewHoldProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Puts a legal hold on a session, an organization or a user. */
export function NewHold({ onClose, onDone }: NewHoldProps) {
  const toasts = useToasts();
  const organizations = useAllOrganizationChoices();
  const users = useUserChoices();
  const [kind, setKind] = useState<Kind>('session');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<newHoldMutation>(
    graphql`
      mutation newHoldMutation($input: CreateLegalHoldInput!) {
        createLegalHold(input: $input) {
          legalHold {
            id
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
    const entered = fields.text('target');
    const id = kind === 'session' ? sessionIdIn(entered) : entered;
    if (id === '') return setErrors([{ message: texts.noTarget, path: ['target'] }]);
    const { errors: refused } = await create({
      input: { target: targetInput(kind, id), reason: fields.text('reason') },
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.done);
    onDone();
    onClose();
  };
  const target = { name: 'target', error: errorOf(errors, 'target') };
  return (
    <FormDialog
      title={legalHoldsPage.newHold}
      submitLabel={texts.submit}
      isBusy={isBusy}
      errors={errors}
      fieldNames={['target', 'reason']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <Select label={texts.kind} value={kind} onChange={({ target: field }) => setKind(field.value as Kind)}>
        {Object.entries(texts.kinds).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      {kind === 'session' && <TextField label={texts.session} hint={texts.sessionHint} required {...target} />}
      {kind === 'organization' && (
        <Picker key={kind} label={common.organization} source={organizations} isRequired {...target} />
      )}
      {kind === 'user' && <Picker key={kind} label={common.user} source={users} isRequired {...target} />}
      <TextArea
        label={legalHoldsPage.reason}
        name="reason"
        required
        maxLength={2_000}
        hint={texts.reasonHint}
        error={errorOf(errors, 'reason')}
      />
    </FormDialog>
  );
}
