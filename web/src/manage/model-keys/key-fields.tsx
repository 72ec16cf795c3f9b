import { type ReactNode, useState } from 'react';
import type { ModelProvider } from '../../__generated__/keyFormCreateMutation.graphql.ts';
import { common } from '../../texts/common.ts';
import { keyFields as texts } from '../../texts/model-keys.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { RichText } from '../../ui/rich-text.tsx';
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
const priceLabels = texts.priceLabels;

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
      label={texts.baseUrl}
      name="baseUrl"
      inputMode="url"
      required={isOwnServer}
      spellCheck={false}
      autoComplete="off"
      placeholder={isOwnServer ? texts.baseUrlExample : texts.providerAddress}
      hint={isOwnServer ? texts.baseUrlHint : undefined}
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
            label={common.provider}
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
          <TextField label={common.provider} value={providerLabel(edited.provider)} readOnly />
        )}
        {!isShort && (
          <TextField
            label={common.name}
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
        label={common.key}
        name="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        required={edited === null ? !isOwnServer : isMoved && edited.hasKey}
        placeholder={edited === null ? undefined : edited.hasKey ? common.unchanged : texts.noKey}
        hint={
          isMoved && edited?.hasKey ? (
            texts.keyHintMoved
          ) : edited === null && keysUrl !== null ? (
            <RichText
              text={texts.keyHintNew}
              slots={{
                provider: providerLabel(provider),
                link: (text) => (
                  <a href={keysUrl} target="_blank" rel="noreferrer">
                    {text}
                  </a>
                ),
              }}
            />
          ) : isOwnServer ? (
            edited?.hasKey ? (
              texts.keyHintKept
            ) : (
              texts.keyHintOptional
            )
          ) : (
            texts.keyHint
          )
        }
        error={errorOf(errors, 'key')}
      />
      {!isShort && (
        <>
          <TextField
            label={texts.budget}
            name="monthlyBudgetUsd"
            type="number"
            min={0}
            step="any"
            placeholder={texts.noBudget}
            hint={needsPrices ? texts.budgetHintPrices : texts.budgetHint}
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
            <summary>{isOwnServer ? texts.prices : texts.baseUrlAndPrices}</summary>
            <div className="form">
              {!isOwnServer && address}
              <fieldset
                className="prices"
                onInput={({ currentTarget }) =>
                  setPrices([...currentTarget.querySelectorAll('input')].some(({ value }) => value !== ''))
                }
              >
                <legend>{texts.priceUnit}</legend>
                <p className="hint">{isOwnServer ? texts.pricesHintOwnServer : texts.pricesHint}</p>
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
