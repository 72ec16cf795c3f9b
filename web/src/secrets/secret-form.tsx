import { type FormEvent, useId, useState } from 'react';
import { graphql } from 'react-relay';
import type { SecretType, secretFormMutation } from '../__generated__/secretFormMutation.graphql.ts';
import type { secretFormUpdateMutation } from '../__generated__/secretFormUpdateMutation.graphql.ts';
import { useSecretMutation } from '../relay/use-secret-mutation.ts';
import { common } from '../texts/common.ts';
import { secretForm as texts } from '../texts/secrets.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { errorOf, Select, TextArea, TextField } from '../ui/field.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { variableName } from './variable-name.ts';

interface SecretFormProps {
  readonly organizationId: string;
  /** The secret to change; null: a new one. */
  readonly secret: {
    readonly secretId: string;
    readonly key: string;
    readonly type: SecretType | '%future added value';
    readonly note: string | null | undefined;
    readonly isSensitive: boolean;
  } | null;
  /** Called when the secret is saved: the list is read again. */
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Creates or changes a secret. Its value is sent and never shown again. */
export function SecretForm({ organizationId, secret, onSaved, onClose }: SecretFormProps) {
  const form = useId();
  const toasts = useToasts();
  const [isShown, setShown] = useState(false);
  const [key, setKey] = useState(secret?.key ?? '');
  const [type, setType] = useState<string>(secret?.type ?? 'KEY_VALUE');
  const [errors, setErrors] = useState<Parameters<typeof errorOf>[0]>(null);
  const [create, isBusy] = useSecretMutation<secretFormMutation>(graphql`
    mutation secretFormMutation($input: CreateSecretInput!) {
      createSecret(input: $input) {
        secret {
          id
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const [update, isUpdating] = useSecretMutation<secretFormUpdateMutation>(graphql`
    mutation secretFormUpdateMutation($input: UpdateSecretInput!) {
      updateSecret(input: $input) {
        secret {
          id
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const formData = new FormData(event.currentTarget);
    const text = (name: string) => String(formData.get(name) ?? '');
    const input = {
      key: text('key').trim(),
      note: text('note').trim() || null,
      isSensitive: formData.get('isSensitive') !== null,
    };
    const value = text('value');
    const { errors: refused } = secret
      ? await update({ input: { ...input, secretId: secret.secretId, ...(value === '' ? {} : { value }) } })
      : await create({ input: { ...input, organizationId, value, type: text('type') as SecretType } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(secret ? common.savedName({ name: input.key }) : common.addedName({ name: input.key }));
    onSaved();
    onClose();
  };
  const other = errors?.filter(({ path }) => !path?.some((part) => ['key', 'value', 'note', 'type'].includes(part)));
  return (
    <Dialog
      title={secret ? common.editName({ name: secret.key }) : texts.newSecret}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy || isUpdating}>
            {secret ? common.save : texts.create}
          </Button>
        </>
      }
    >
      <form id={form} className="form" autoComplete="off" onSubmit={(event) => void submit(event)}>
        <TextField
          label={common.name}
          name="key"
          required
          autoFocus
          spellCheck={false}
          placeholder={texts.nameExample}
          defaultValue={secret?.key}
          hint={type === 'KEY_VALUE' && <NameHint name={key.trim()} />}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
          error={errorOf(errors, 'key')}
        />
        {!secret && (
          <Select
            label={common.type}
            name="type"
            value={type}
            onChange={({ target }) => setType(target.value)}
            error={errorOf(errors, 'type')}
          >
            <option value="KEY_VALUE">{common.value}</option>
            <option value="COOKIE">{texts.cookies}</option>
            <option value="TOTP">{texts.totp}</option>
          </Select>
        )}
        <TextArea
          label={common.value}
          name="value"
          required={!secret}
          spellCheck={false}
          placeholder={secret ? common.unchanged : undefined}
          hint={texts.valueHint}
          error={errorOf(errors, 'value')}
          data-masked={!isShown || undefined}
        />
        <label className="check">
          <input type="checkbox" checked={isShown} onChange={({ target }) => setShown(target.checked)} />{' '}
          {texts.showValue}
        </label>
        <TextField
          label={common.note}
          name="note"
          placeholder={texts.notePlaceholder}
          defaultValue={secret?.note ?? ''}
          error={errorOf(errors, 'note')}
        />
        <label className="check">
          <input type="checkbox" name="isSensitive" defaultChecked={secret?.isSensitive ?? true} /> {texts.redact}
        </label>
        {other && other.length > 0 && (
          <p className="problem" role="alert">
            {other.map(({ message }) => message).join(' ')}
          </p>
        )}
      </form>
    </Dialog>
  );
}

/** Says from which environment variable agents read a secret with this name. */
function NameHint({ name }: { readonly name: string }) {
  if (name === '') return texts.nameHint;
  return <RichText text={texts.variableHint} slots={{ name: <code>{variableName(name)}</code> }} />;
}
