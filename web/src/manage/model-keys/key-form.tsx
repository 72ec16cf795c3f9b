import './model-keys.css';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type {
  CreateProviderKeyInput,
  keyFormCreateMutation,
  ModelProvider,
} from '../../__generated__/keyFormCreateMutation.graphql.ts';
import type { keyFormUpdateMutation } from '../../__generated__/keyFormUpdateMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import { type EditedKey, KeyFields, keyFieldNames, readKeyFields } from './key-fields.tsx';
import { type KeyTestResult, useKeyTest } from './key-test.ts';
import { type KnownProvider, modelProviders } from './providers.ts';

/** The owner of a new key, in the form of the input. */
export type KeyScope = CreateProviderKeyInput['scope'];

interface KeyFormProps {
  /** The id of the form element. */
  readonly id: string;
  /** Null: a new key. */
  readonly edited: (EditedKey & { readonly providerKeyId: string }) | null;
  /** The owner of a new key. */
  readonly scope: KeyScope;
  /** The providers to choose from, the default first. */
  readonly offered?: readonly KnownProvider[];
  /** True for a form that leaves out the name, the budget and the prices. */
  readonly isShort?: boolean;
  /** Called with the key's name when it is saved. The fields are empty then. */
  readonly onSaved: (name: string) => void;
  readonly onBusy?: (isBusy: boolean) => void;
  /** The buttons before the one that tests the key. */
  readonly buttons?: (isBusy: boolean) => ReactNode;
  /** Further fields beside the provider. */
  readonly children?: ReactNode;
}

const allProviders = Object.keys(modelProviders) as KnownProvider[];

/** Creates or changes a model key, and tests it before it is saved. */
export function KeyForm(props: KeyFormProps) {
  const { id, edited, scope, offered = allProviders, isShort = false, onSaved, onBusy, buttons, children } = props;
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [result, setResult] = useState<KeyTestResult | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const { test, isTesting } = useKeyTest();
  const [create, isCreating] = useSecretMutation<keyFormCreateMutation>(graphql`
    mutation keyFormCreateMutation($input: CreateProviderKeyInput!) {
      createProviderKey(input: $input) {
        providerKey {
          id
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const [update, isUpdating] = useSecretMutation<keyFormUpdateMutation>(graphql`
    mutation keyFormUpdateMutation($input: UpdateProviderKeyInput!) {
      updateProviderKey(input: $input) {
        providerKey {
          id
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const providerIn = (fields: FormFields) => edited?.provider ?? (fields.text('provider') as ModelProvider);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isCreating || isUpdating) return;
    const element = event.currentTarget;
    const fields = new FormFields(element);
    const provider = providerIn(fields);
    const input = readKeyFields(fields, provider);
    const key = fields.textOrNull('key');
    onBusy?.(true);
    const { errors: refused } = edited
      ? await update({
          input: {
            ...input,
            providerKeyId: edited.providerKeyId,
            ...(key === null ? {} : { key }),
          },
        })
      : await create({ input: { ...input, scope, provider, key } });
    onBusy?.(false);
    setErrors(refused);
    setResult(null);
    if (refused !== null) return;
    element.reset();
    onSaved(input.name);
  };
  const tryKey = async () => {
    const element = form.current;
    if (!element?.reportValidity()) return;
    const fields = new FormFields(element);
    const [key, baseUrl] = [fields.textOrNull('key'), fields.textOrNull('baseUrl')];
    setResult(null);
    const isStored = edited !== null && key === null && baseUrl === (edited.baseUrl ?? null);
    setResult(
      await test(isStored ? { providerKeyId: edited.providerKeyId } : { provider: providerIn(fields), key, baseUrl }),
    );
  };
  return (
    <form
      id={id}
      ref={form}
      className="form"
      autoComplete="off"
      onSubmit={(event) => void submit(event)}
      onInput={() => setResult(null)}
    >
      <KeyFields {...{ edited, errors, offered, isShort }}>{children}</KeyFields>
      <div className="key-test">
        {buttons?.(isCreating || isUpdating)}
        <Button isBusy={isTesting} onClick={() => void tryKey()}>
          Test key
        </Button>
        <p role="status" className={result === null ? undefined : result.isOk ? 'good' : 'problem'}>
          {isTesting ? (
            'Testing…'
          ) : result === null ? null : (
            <>
              <Icon name={result.isOk ? 'check' : 'warning'} /> {result.text}
            </>
          )}
        </p>
      </div>
      <FormErrors errors={errors} fieldNames={isShort ? keyFieldNames.short : keyFieldNames.all} />
    </form>
  );
}
