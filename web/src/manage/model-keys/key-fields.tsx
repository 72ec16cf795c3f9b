import { type ReactNode, useState } from 'react';
import type { ModelProvider } from '../../__generated__/keyFormCreateMutation.graphql.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import type { FormFields, FormProblem } from '../kit/kit.ts';
import { hostOf } from './base-url.ts';
import { type KnownProvider, modelProviders, providerLabel } from './providers.ts';

/** A key whose fields are edited. */
export interface EditedKey {
  readonly provider: ModelProvider;
  readonly name: string;
  readonly baseUrl: string | null | undefined;
  readonly hasKey: boolean;
  readonly monthlyBudgetUsd: number | null | undefined;
  readonly prices:
    | {
        readonly inputUsdPerMillion: number | null | undefined;
        readonly cachedUsdPerMillion: number | null | undefined;
        readonly outputUsdPerMillion: number | null | undefined;
      }
    | null
    | undefined;
}

interface KeyFieldsProps {
  /** Null: a new key. */
  readonly edited: EditedKey | null;
  readonly errors: readonly FormProblem[] | null;
  /** The providers to choose from, the default first. */
  readonly offered: readonly KnownProvider[];
  /** True for a form that leaves out the name, the budget and the prices. */
  readonly isShort?: boolean;
  /** Further fields beside the provider. */
  readonly children?: ReactNode;
}

const priceNames = ['inputUsdPerMillion', 'cachedUsdPerMillion', 'outputUsdPerMillion'] as const;
const priceLabels = { inputUsdPerMillion: 'Input', cachedUsdPerMillion: 'Cached input', outputUsdPerMillion: 'Output' };

/** The fields that show their errors themselves. */
export const keyFieldNames = {
  short: ['provider', 'key', 'baseUrl'],
  all: ['provider', 'name', 'key', 'baseUrl', 'monthlyBudgetUsd', ...priceNames],
};

/** The fields of a model key. The key itself stays in its input only: no state or storage has it. */
export function KeyFields({ edited, errors, offered, isShort = false, children }: KeyFieldsProps) {
  const [provider, setProvider] = useState<ModelProvider>(edited?.provider ?? offered[0] ?? 'OPENAI');
  const [baseUrl, setBaseUrl] = useState(edited?.baseUrl ?? '');
  const isMoved = edited !== null && baseUrl.trim() !== (edited.baseUrl ?? '');
  const keysUrl = provider === '%future added value' ? null : modelProviders[provider].keysUrl;
  const isOwnServer = provider === 'COMPATIBLE';
  const address = (
    <TextField
      label="Base URL"
      name="baseUrl"
      inputMode="url"
      required={isOwnServer}
      spellCheck={false}
      autoComplete="off"
      placeholder={isOwnServer ? 'http://localhost:11434/v1' : 'Provider’s own address'}
      hint={isOwnServer ? 'For example, the address of Ollama, vLLM or LiteLLM. It usually ends with /v1.' : undefined}
      defaultValue={edited?.baseUrl ?? ''}
      error={errorOf(errors, 'baseUrl')}
      onChange={({ target }) => setBaseUrl(target.value)}
    />
  );
  const [hasPrices, setPrices] = useState(edited?.prices != null);
  const [hasBudget, setBudget] = useState(edited?.monthlyBudgetUsd != null);
  // The service knows no prices of an own server.
  const needsPrices = isOwnServer && hasBudget;
  const isAnyOfPrices = priceNames.some((name) => edited?.prices?.[name] != null || errorOf(errors, name) !== null);
  return (
    <>
      <div className="fields">
        {edited === null ? (
          <Select
            label="Provider"
            name="provider"
            value={provider}
            onChange={({ target }) => setProvider(target.value as ModelProvider)}
            error={errorOf(errors, 'provider')}
          >
            {offered.map((each) => (
              <option value={each} key={each}>
                {providerLabel(each)}
              </option>
            ))}
          </Select>
        ) : (
          <TextField label="Provider" value={providerLabel(edited.provider)} readOnly />
        )}
        {!isShort && (
          <TextField
            label="Name"
            name="name"
            autoComplete="off"
            placeholder={defaultNameOf(provider, baseUrl.trim())}
            defaultValue={edited?.name ?? ''}
            required={edited !== null}
            error={errorOf(errors, 'name')}
          />
        )}
        {children}
      </div>
      {isOwnServer && address}
      <TextField
        label="Key"
        name="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        required={edited === null ? !isOwnServer : isMoved && edited.hasKey}
        placeholder={edited === null ? undefined : edited.hasKey ? 'Unchanged' : 'No key'}
        hint={
          isMoved && edited?.hasKey ? (
            'Enter the key again, because the base URL changes.'
          ) : edited === null && keysUrl !== null ? (
            <>
              You cannot view the key after you save it.{' '}
              <a href={keysUrl} target="_blank" rel="noreferrer">
                Create a key at {providerLabel(provider)}
              </a>
            </>
          ) : isOwnServer ? (
            edited?.hasKey ? (
              'Leave it empty to keep the key.'
            ) : (
              'Leave it empty if the server needs no key. You cannot view it after you save it.'
            )
          ) : (
            'You cannot view the key after you save it.'
          )
        }
        error={errorOf(errors, 'key')}
      />
      {!isShort && (
        <>
          <TextField
            label="Monthly budget (USD)"
            name="monthlyBudgetUsd"
            type="number"
            min={0}
            step="any"
            placeholder="No limit"
            hint={`Sessions that use the key are suspended when it is spent. It applies to each calendar month (UTC).${needsPrices ? ' A budget for an own server needs prices.' : ''}`}
            defaultValue={edited?.monthlyBudgetUsd ?? ''}
            onChange={({ target }) => setBudget(target.value !== '')}
            error={errorOf(errors, 'monthlyBudgetUsd')}
          />
          <details
            className="more-fields"
            open={
              needsPrices ||
              isAnyOfPrices ||
              (!isOwnServer && (Boolean(edited?.baseUrl) || errorOf(errors, 'baseUrl') !== null))
            }
          >
            <summary>{isOwnServer ? 'Prices' : 'Base URL and prices'}</summary>
            <div className="form">
              {!isOwnServer && address}
              <fieldset
                className="prices"
                onInput={({ currentTarget }) =>
                  setPrices([...currentTarget.querySelectorAll('input')].some(({ value }) => value !== ''))
                }
              >
                <legend>USD per million tokens</legend>
                <p className="hint">
                  {isOwnServer
                    ? 'The cost of calls is computed from these prices. A budget needs them.'
                    : 'The cost of calls is computed from these prices. Without them, it comes from the provider or its list prices.'}
                </p>
                <div className="fields">
                  {priceNames.map((name) => (
                    <TextField
                      key={name}
                      label={priceLabels[name]}
                      name={name}
                      type="number"
                      min={0}
                      step="any"
                      required={(hasPrices || needsPrices) && name !== 'cachedUsdPerMillion'}
                      defaultValue={edited?.prices?.[name] ?? ''}
                      error={errorOf(errors, name)}
                    />
                  ))}
                </div>
              </fieldset>
            </div>
          </details>
        </>
      )}
    </>
  );
}

/** Returns the name of a key without one: the host of its own address, else its provider. */
const defaultNameOf = (provider: ModelProvider, baseUrl: string) => hostOf(baseUrl) ?? providerLabel(provider);

/** Reads the fields into the input of a mutation. */
export function readKeyFields(fields: FormFields, provider: ModelProvider) {
  const [inputUsdPerMillion, cachedUsdPerMillion, outputUsdPerMillion] = priceNames.map((name) => fields.number(name));
  return {
    name: fields.text('name') || defaultNameOf(provider, fields.text('baseUrl')),
    baseUrl: fields.textOrNull('baseUrl'),
    monthlyBudgetUsd: fields.number('monthlyBudgetUsd'),
    prices:
      inputUsdPerMillion == null || outputUsdPerMillion == null
        ? null
        : { inputUsdPerMillion, cachedUsdPerMillion: cachedUsdPerMillion ?? null, outputUsdPerMillion },
  };
}
