import { useId, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { keyList_key$data, keyList_key$key } from '../../__generated__/keyList_key.graphql.ts';
import type { keyListDeleteMutation } from '../../__generated__/keyListDeleteMutation.graphql.ts';
import type { keyListDisableMutation } from '../../__generated__/keyListDisableMutation.graphql.ts';
import type { keyListEnableMutation } from '../../__generated__/keyListEnableMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { keyList as texts } from '../../texts/model-keys.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';
import { KeyDialog } from './key-dialog.tsx';
import type { KeyScope } from './key-form.tsx';
import { KeyState } from './key-state.tsx';
import { useKeyTest } from './key-test.ts';
import { Spent, UsageText } from './key-usage.tsx';
import { providerLabel } from './providers.ts';

type Key = keyList_key$data[number];

interface KeyListProps {
  readonly title: string;
  /** Explains for which sessions the keys count. */
  readonly hint: string;
  /** The text of an empty list. */
  readonly emptyText: string;
  readonly scope: KeyScope;
  readonly keys: keyList_key$key;
  /** Reads the list again. */
  readonly onChanged: () => void;
}

/** The model keys of one owner, with their state and usage. */
export function KeyList({ title, hint, emptyText, scope, keys: reference, onChanged }: KeyListProps) {
  const keys = useFragment(
    graphql`
      fragment keyList_key on ProviderKey
      @relay(plural: true)
      @argumentDefinitions(from: { type: "Date!" }, to: { type: "Date!" }) {
        id
        providerKeyId
        provider
        name
        baseUrl
        hasKey
        monthlyBudgetUsd
        spentThisMonthUsd
        usage(from: $from, to: $to) {
          ...keyUsage_usage
        }
        prices {
          inputUsdPerMillion
          cachedUsdPerMillion
          outputUsdPerMillion
        }
        isEnabled
        lastUsedAt
        ...keyState_key
      }
    `,
    reference,
  );
  const heading = useId();
  const toasts = useToasts();
  const { test } = useKeyTest();
  const [testing, setTesting] = useState<ReadonlySet<string>>(new Set());
  const [form, setForm] = useState<Key | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Key | null>(null);
  const [remove] = useMutation<keyListDeleteMutation>(graphql`
    mutation keyListDeleteMutation($input: DeleteProviderKeyInput!) {
      deleteProviderKey(input: $input) {
        deletedProviderKeyId
        userErrors {
          message
        }
      }
    }
  `);
  const [enable, isEnabling] = useMutation<keyListEnableMutation>(graphql`
    mutation keyListEnableMutation($input: EnableProviderKeyInput!) {
      enableProviderKey(input: $input) {
        providerKey {
          isEnabled
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [disable, isDisabling] = useMutation<keyListDisableMutation>(graphql`
    mutation keyListDisableMutation($input: DisableProviderKeyInput!) {
      disableProviderKey(input: $input) {
        providerKey {
          isEnabled
        }
        userErrors {
          message
        }
      }
    }
  `);
  const toggle = async ({ providerKeyId, name, isEnabled }: Key) => {
    const { errors } = await (isEnabled ? disable : enable)({ input: { providerKeyId } });
    if (errors === null) toasts.say(isEnabled ? common.disabledName({ name }) : common.enabledName({ name }));
    onChanged();
  };
  const tryKey = async ({ id, providerKeyId, provider, baseUrl }: Key) => {
    setTesting((before) => new Set(before).add(id));
    const { isOk, text } = await test({ providerKeyId }, { provider, baseUrl });
    setTesting((before) => new Set([...before].filter((each) => each !== id)));
    if (isOk) toasts.say(text);
    else toasts.fail(text);
    onChanged();
  };
  const columns: readonly Column<Key>[] = [
    {
      label: common.name,
      cell: ({ name, provider, baseUrl }) => (
        <span className="key-name">
          <span className="row-link">{visible(name)}</span>
          <span className="under">{providerLabel(provider)}</span>
          {baseUrl && <span className="under">{visible(baseUrl)}</span>}
        </span>
      ),
    },
    { label: common.status, cell: (each) => <KeyState providerKey={each} /> },
    { label: texts.spentThisMonth, cell: (each) => <Spent {...each} /> },
    {
      label: texts.usage,
      cell: ({ usage, lastUsedAt }) => (
        <span className="key-usage">
          <UsageText usage={usage} />
          {lastUsedAt && (
            <span className="under">
              <RichText text={texts.lastUsed} slots={{ time: <Time at={lastUsedAt} /> }} />
            </span>
          )}
        </span>
      ),
    },
    actionsColumn((each) => (
      <>
        <Button
          size="small"
          aria-label={common.testName({ name: each.name })}
          isBusy={testing.has(each.id)}
          onClick={() => void tryKey(each)}
        >
          {common.test}
        </Button>
        <Button size="small" aria-label={common.editName({ name: each.name })} onClick={() => setForm(each)}>
          {common.edit}
        </Button>
        <Button
          size="small"
          aria-label={each.isEnabled ? common.disableName({ name: each.name }) : common.enableName({ name: each.name })}
          isBusy={isEnabling || isDisabling}
          onClick={() => void toggle(each)}
        >
          {each.isEnabled ? common.disable : common.enable}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={common.deleteName({ name: each.name })}
          onClick={() => setLeaving(each)}
        >
          {common.delete}
        </Button>
      </>
    )),
  ];
  return (
    <section className="card sheet" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{visible(title)}</h2>
        <Button icon="plus" onClick={() => setForm('new')} aria-describedby={heading}>
          {texts.newKey}
        </Button>
        <p>{hint}</p>
      </header>
      {keys.length === 0 ? (
        <p className="no-keys">
          <Icon name="key" /> {emptyText}
        </p>
      ) : (
        <Table label={title} columns={columns} rows={keys} keyOf={({ id }) => id} />
      )}
      {form && (
        <KeyDialog
          edited={form === 'new' ? null : form}
          scope={scope}
          onChanged={onChanged}
          onClose={() => setForm(null)}
        />
      )}
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.name })}
          run={() => remove({ input: { providerKeyId: leaving.providerKeyId } })}
          onClose={() => setLeaving(null)}
          onDone={onChanged}
        />
      )}
    </section>
  );
}
