import { type FormEvent, useState } from 'react';
import { graphql } from 'react-relay';
import type {
  UpdateRepositoryInput,
  useUpdateRepositoryMutation,
} from '../../__generated__/useUpdateRepositoryMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { useToasts } from '../../ui/toasts.tsx';
import { FormFields, type FormProblem } from '../kit/kit.ts';

/** The form with some settings of a repository. */
export interface RepositoryForm {
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  /** The errors of the last attempt; null: none. */
  readonly errors: readonly FormProblem[] | null;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/** Saves the settings that a form has. `inputOf` reads them from its fields, and `savedText` confirms the change. */
export function useUpdateRepository(
  repositoryId: string,
  inputOf: (fields: FormFields) => Omit<UpdateRepositoryInput, 'repositoryId'>,
  savedText: string,
): RepositoryForm {
  const mayChange = useSigned().may('MANAGE_ORGANIZATIONS');
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<useUpdateRepositoryMutation>(
    graphql`
      mutation useUpdateRepositoryMutation($input: UpdateRepositoryInput!) {
        updateRepository(input: $input) {
          repository {
            ...branchSettings_repository
            ...environment_repository
            ...followUpSettings_repository
            ...mentionSettings_repository
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
  const save = async (fields: FormFields) => {
    const { errors: refused } = await update({ input: { repositoryId, ...inputOf(fields) } });
    setErrors(refused);
    if (refused === null) toasts.say(savedText);
  };
  return {
    ...{ mayChange, isBusy, errors },
    onSubmit: (event) => {
      event.preventDefault();
      void save(new FormFields(event.currentTarget));
    },
  };
}
