import { keyForm as texts } from '../../texts/model-keys.ts';
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
import { baseUrlProblem } from './base-url.ts';
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
  /** Called when the key is saved, before its test. */
  readonly onStored?: () => void;
  /** Called with the key's name when it is saved and works, or is used although it failed its test. The fields are empty then. */
  readonly onSaved: (name: string) => void;
  readonly onState?: (state: KeyFormState) => void;
  /** The buttons before the one that tests the key. */
  readonly buttons?: (state: KeyFormState) => ReactNode;
  /** Further fields beside the provider, for a key that is not saved yet. */
  readonly children?: ReactNode;
}

/** The state of a form. */
interface KeyFormState {
  readonly isBusy: boolean;
  /** True if the key is saved, but failed its test: submitting the form replaces it. */
  readonly isRefused: boolean;
}

interface StoredKey {
  readonly providerKeyId: string;
  readonly name: string;
}

const allProviders = Object.keys(modelProviders) as KnownProvider[];

/**
 * Creates or changes a model key. A new key or address is tested when it is saved. If it fails, the form stays open: its user
 * replaces the key, or uses it anyway.
 */
export function KeyForm(props: KeyFormProps) {
  const { id, edited, scope, offered = allProviders, isShort = false } = props;
  const { onStored, onSaved, onState, buttons, children } = props;
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [result, setResult] = useState<KeyTestResult | null>(null);
  const [refused, setRefused] = useState<StoredKey | null>(null);
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { test, isTesting } = useKeyTest();
  const [create] = useSecretMutation<keyFormCreateMutation>(graphql`
    mutation keyFormCreateMutation($input: CreateProviderKeyInput!) {
      createProviderKey(input: $input) {
        providerKey {
          providerKeyId
          name
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const [update] = useSecretMutation<keyFormUpdateMutation>(graphql`
    mutation keyFormUpdateMutation($input: UpdateProviderKeyInput!) {
      updateProviderKey(input: $input) {
        providerKey {
          providerKeyId
          name
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const providerIn = (fields: FormFields) => edited?.provider ?? (fields.text('provider') as ModelProvider);
  const hasGoodAddress = (fields: FormFields) => {
    const message = baseUrlProblem(fields.textOrNull('baseUrl'));
    setErrors(message === null ? null : [{ message, path: ['baseUrl'] }]);
    return message === null;
  };
  const change = (state: KeyFormState) => {
    setSaving(state.isBusy);
    onState?.(state);
  };
  const store = (fields: FormFields) => {
    const provider = providerIn(fields);
    const { name, baseUrl, ...rest } = readKeyFields(fields, provider);
    const key = fields.textOrNull('key');
    const all = { name, baseUrl, ...rest };
    const stored = refused ?? edited;
    if (stored === null) return create({ input: { ...all, scope, provider, key } });
    // The short form has only the address and the key.
    const changes = edited !== null && isShort ? { baseUrl } : all;
    const { providerKeyId } = stored;
    return update({
      input: { ...changes, ...(edited === null && { provider }), providerKeyId, ...(key === null ? {} : { key }) },
    });
  };
  const finish = (name: string) => {
    form.current?.reset();
    setRefused(null);
    setResult(null);
    onSaved(name);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormFields(event.currentTarget);
    if (isSaving || !hasGoodAddress(fields)) return;
    const isChanged =
      edited === null ||
      refused !== null ||
      fields.textOrNull('key') !== null ||
      fields.textOrNull('baseUrl') !== (edited.baseUrl ?? null);
    setResult(null);
    change({ isBusy: true, isRefused: refused !== null });
    const { payload, errors: problems } = await store(fields);
    const stored = payload?.providerKey ?? null;
    if (stored === null) {
      setErrors(problems);
      change({ isBusy: false, isRefused: refused !== null });
      return;
    }
    onStored?.();
    const server = { provider: providerIn(fields), baseUrl: fields.textOrNull('baseUrl') };
    const tested = isChanged ? await test({ providerKeyId: stored.providerKeyId }, server) : null;
    // The test has recorded its result.
    if (tested !== null) onStored?.();
    const isRefused = tested?.isOk === false;
    change({ isBusy: false, isRefused });
    if (!isRefused) return finish(stored.name);
    setResult(tested);
    setRefused(stored);
  };
  const tryKey = async () => {
    const element = form.current;
    if (!element?.reportValidity()) return;
    const fields = new FormFields(element);
    if (!hasGoodAddress(fields)) return;
    const [key, baseUrl] = [fields.textOrNull('key'), fields.textOrNull('baseUrl')];
    setResult(null);
    const isStored = edited !== null && key === null && baseUrl === (edited.baseUrl ?? null);
    const server = { provider: providerIn(fields), baseUrl };
    setResult(await test(isStored ? { providerKeyId: edited.providerKeyId } : { ...server, key }, server));
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
      <KeyFields {...{ edited, errors, offered, isShort }}>{refused === null && children}</KeyFields>
      <div className="key-test">
        {buttons?.({ isBusy: isSaving, isRefused: refused !== null })}
        {refused !== null && (
          <Button disabled={isSaving} onClick={() => finish(refused.name)}>
            {texts.useAnyway}
          </Button>
        )}
        <Button isBusy={isTesting && !isSaving} disabled={isSaving} onClick={() => void tryKey()}>
          {texts.testKey}
        </Button>
        <p role="status" className={result === null ? undefined : result.isOk ? 'good' : 'problem'}>
          {isTesting ? (
            texts.testing
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
