import { type FormEvent, useId, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useNewSessionMutation } from '../__generated__/useNewSessionMutation.graphql.ts';
import { addRepository, type ChosenRepository, toInput } from '../pickers/chosen-repository.ts';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { sessionAddress } from '../session/address.ts';
import { newSession as texts } from '../texts/sessions.ts';
import { useUploads } from '../uploads/use-uploads.ts';
import { withValues } from './placeholders.ts';
import { playbookTitle, valuePrefix } from './playbook-values.tsx';

/** Errors of the service, with the paths of the fields. */
export type NewSessionErrors = readonly {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}[];

/** A session that a user describes and starts. */
export type NewSessionDraft = ReturnType<typeof useNewSession>;

interface NewSessionOptions {
  readonly organizationId: string;
  /** The repository to begin with; null: the default ones. */
  readonly repository: string | null;
  /** Opens the page of the session that was started. */
  readonly onStarted: (address: string) => void;
}

/** The state of the form for a new session, and the function that starts it. */
export function useNewSession({ organizationId, repository, onStarted }: NewSessionOptions) {
  const first = repository === null ? null : addRepository([], repository);
  const form = useId();
  const prompt = useRef<HTMLTextAreaElement>(null);
  const [errors, setErrors] = useState<NewSessionErrors | null>(null);
  const [create, isBusy] = useMutation<useNewSessionMutation>(
    graphql`
      mutation useNewSessionMutation($input: CreateSessionInput!) {
        createSession(input: $input) {
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
  const uploads = useUploads(organizationId);
  // Null: those that the prompt names, or the default ones.
  const [repositories, setRepositories] = useState<readonly ChosenRepository[] | null>(first);
  const keyOf = useAttemptKey();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Enter submits a form even if its button is disabled.
    if (isBusy || !uploads.areSent) return;
    const formData = new FormData(event.currentTarget);
    const text = (name: string) => String(formData.get(name) ?? '').trim() || null;
    const written = withValues(text('prompt') ?? '', valuesIn(formData));
    if (written === '') {
      const message = formData.has(playbookTitle) ? texts.promptOrValueMissing : texts.promptMissing;
      setErrors([{ message, path: ['prompt'] }]);
      prompt.current?.focus();
      return;
    }
    const tags = text('tags')
      ?.split(',')
      .map((tag) => tag.trim());
    const limit = text('maxAcuLimit');
    const input = {
      organizationId,
      prompt: written,
      // Without a prompt, the derived title would be that of the values.
      title: text('title') ?? (text('prompt') === null ? text(playbookTitle) : null),
      agent: text('agent'),
      playbookId: text('playbookId'),
      snapshotId: text('snapshotId'),
      maxAcuLimit: limit === null ? null : Number(limit),
      tags: tags?.filter((tag) => tag !== '') ?? null,
      attachmentIds: uploads.attachmentIds,
      repositories: repositories === null ? null : toInput(repositories),
      options: [...formData].flatMap(([name, value]) =>
        name.startsWith(optionPrefix) && value !== ''
          ? [{ optionId: name.slice(optionPrefix.length), value: String(value) }]
          : [],
      ),
    };
    const { payload, errors: refused } = await create({ input: { ...input, idempotencyKey: keyOf(input) } });
    setErrors(refused);
    if (payload?.session) onStarted(sessionAddress(payload.session.sessionId));
  };
  const setPrompt = (text: string) => {
    const field = prompt.current;
    if (!field) return;
    field.value = text;
    // The form stores it, as what is typed.
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  };
  return {
    ...{ organizationId, form, prompt, setPrompt, errors, isBusy, uploads, repositories, setRepositories, submit },
    clearErrors: () => setErrors(null),
    isDirty: uploads.all.length > 0 || JSON.stringify(repositories) !== JSON.stringify(first),
  };
}

/** The values of the playbook's placeholders, by their names. */
const valuesIn = (formData: FormData) =>
  [...formData].flatMap(([name, value]) =>
    name.startsWith(valuePrefix) ? [[name.slice(valuePrefix.length), String(value)] as const] : [],
  );

/** Names of the fields for options of the agent begin with this. */
export const optionPrefix = 'option:';
