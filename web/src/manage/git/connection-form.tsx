import { type FormEvent, useId, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { connectionFormCreateMutation } from '../../__generated__/connectionFormCreateMutation.graphql.ts';
import type { connectionFormUpdateMutation } from '../../__generated__/connectionFormUpdateMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { common } from '../../texts/common.ts';
import { connectionForm as texts } from '../../texts/git-connections.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import {
  ConnectionFields,
  connectionFieldNames,
  type EditedConnection,
  readAccess,
  readConnection,
} from './connection-fields.tsx';
import type { ForgeKind } from './forge-kinds.ts';
import { TestResult } from './test-result.tsx';
import { useConnectionTest } from './use-connection-test.ts';

/** A connection that was saved. */
export interface SavedConnection {
  readonly gitConnectionId: string;
  readonly name: string;
  /** True if the service has stored no test of its present access. */
  readonly isUntested: boolean;
  /** The repository with which it can be tested; null: none was entered. */
  readonly repositoryPath: string | null;
}

interface ConnectionFormProps {
  /** Null: a new connection. */
  readonly edited: EditedConnection | null;
  /** The connections that exist. */
  readonly connections: readonly { readonly name: string; readonly host: string }[];
  readonly onSaved: (saved: SavedConnection) => void;
  readonly onClose: () => void;
}

/** Connects an account at a forge, or changes a connection, in a dialog. It can be tested before it is saved. */
export function ConnectionForm({ edited, connections, onSaved, onClose }: ConnectionFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const { test, isTesting, result, clear } = useConnectionTest();
  const [create, isCreating] = useSecretMutation<connectionFormCreateMutation>(graphql`
    mutation connectionFormCreateMutation($input: CreateGitConnectionInput!) {
      createGitConnection(input: $input) {
        gitConnection {
          gitConnectionId
          name
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const [update, isUpdating] = useSecretMutation<connectionFormUpdateMutation>(graphql`
    mutation connectionFormUpdateMutation($input: UpdateGitConnectionInput!) {
      updateGitConnection(input: $input) {
        gitConnection {
          gitConnectionId
          name
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const isBusy = isCreating || isUpdating;
  const kindIn = (fields: FormFields) => edited?.providerType ?? (fields.text('providerType') as ForgeKind);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const fields = new FormFields(event.currentTarget);
    const providerType = kindIn(fields);
    const values = readConnection(fields, providerType);
    const { payload, errors: problems } =
      edited === null
        ? await create({ input: { ...values, providerType } })
        : await update({ input: { ...values, gitConnectionId: edited.gitConnectionId } });
    setErrors(problems);
    const saved = payload?.gitConnection;
    if (!saved) return;
    // The service stores the result of a test only for a connection that is stored.
    const isUntested = isAccessChanged(edited, values);
    onSaved({ ...saved, isUntested, repositoryPath: fields.textOrNull('repositoryPath') });
  };
  const tryConnection = async () => {
    if (!form.current?.reportValidity()) return;
    const fields = new FormFields(form.current);
    const providerType = kindIn(fields);
    const access = readAccess(fields, providerType);
    const repositoryPath = fields.textOrNull('repositoryPath');
    if (providerType === 'GIT_HTTPS' && repositoryPath === null) {
      clear();
      setErrors([{ message: texts.repositoryMissing, path: ['repositoryPath'] }]);
      form.current.querySelector<HTMLInputElement>('[name=repositoryPath]')?.focus();
      return;
    }
    const isStored = edited !== null && !isAccessChanged(edited, access);
    setErrors(
      await test(
        isStored
          ? { gitConnectionId: edited.gitConnectionId, repositoryPath }
          : { ...access, providerType, repositoryPath },
      ),
    );
  };
  return (
    <Dialog
      title={edited === null ? texts.connectTitle : common.editName({ name: edited.name })}
      size="large"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button isBusy={isTesting} disabled={isBusy} onClick={() => void tryConnection()}>
            {common.test}
          </Button>
          <Button type="submit" form={id} tone="primary" isBusy={isBusy}>
            {edited === null ? texts.connect : common.save}
          </Button>
        </>
      }
    >
      <form
        id={id}
        ref={form}
        className="form"
        autoComplete="off"
        onSubmit={(event) => void submit(event)}
        onInput={clear}
      >
        <ConnectionFields edited={edited} connections={connections} errors={errors} />
        <TestResult isTesting={isTesting} result={errors === null ? result : null} />
        <FormErrors errors={errors} fieldNames={connectionFieldNames} />
      </form>
    </Dialog>
  );
}

type Access = ReturnType<typeof readAccess>;

/** Returns true if a connection is new, or has another host, account or credential than the stored one. */
function isAccessChanged(edited: EditedConnection | null, access: Access): boolean {
  if (edited === null || access.token !== undefined || access.privateKey !== undefined) return true;
  const names = ['host', 'username', 'appId', 'installationId'] as const;
  return names.some((name) => (access[name] ?? null) !== (edited[name] ?? null) && access[name] !== undefined);
}
