import { z } from 'zod';
import { type AgentOffer, offerLimits, refusalOf } from '../../../agents/options/agent-option.ts';
import { isLockedId } from '../../../agents/options/locks.ts';
import { type Issue, invalidInput } from '../../../common/errors.ts';
import { isModelId, modelIdRule } from '../../../providers/model-id.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { text } from '../../input.ts';
import { readOffers } from './observations.ts';
import type { OptionChoice } from './stored-options.ts';

/** The choice of an option in inputs. */
export const optionChoiceSchema = z.object({
  optionId: text('optionId', { min: 1, max: offerLimits.id }),
  value: text('value', { max: offerLimits.id }),
});

/** The choices of a session in inputs: at most one for each option. */
export const optionChoicesSchema = z
  .array(optionChoiceSchema)
  .max(offerLimits.options, `"options" must have at most ${offerLimits.options} items.`)
  .superRefine((choices, check) => {
    const ids = choices.map(({ optionId }) => optionId);
    for (const [n, id] of ids.entries()) {
      if (ids.indexOf(id) === n) continue;
      check.addIssue({ code: 'custom', path: [n, 'optionId'], message: 'Each option can be chosen only once.' });
    }
  });

/** A session whose options are chosen. */
export interface ChoosingSession {
  readonly organizationId: string;
  /** Its agent profile. */
  readonly agent: string;
  /** The choices that it already has. */
  readonly before: readonly OptionChoice[];
}

/**
 * Checks choices against the profile and the agent's newest offer in the organization. Without an offer, any choice is
 * accepted, and the agent checks it at its start. Throws INVALID_INPUT at `options`.
 */
export async function checkChoices(
  { agentProfiles }: Pick<Context, 'agentProfiles'>,
  tx: Transaction,
  { organizationId, agent, before }: ChoosingSession,
  choices: readonly OptionChoice[],
): Promise<void> {
  const profile = agentProfiles.get(agent);
  const [offer = null] = await readOffers(tx, [agent], { enterpriseId: '', all: false, ids: [organizationId] });
  const issues = choices.flatMap(({ optionId, value }, n): Issue[] => {
    const path = ['options', String(n)];
    if (profile && isLockedId(profile, optionId, offer)) {
      const message = `The configuration of the agent ${JSON.stringify(agent)} locks the option ${JSON.stringify(optionId)}.`;
      return [{ path: [...path, 'optionId'], message }];
    }
    const mistake = formMistake(offer, optionId, value);
    if (mistake !== null) return [{ path: [...path, 'value'], message: mistake }];
    if (!offer || dependsOnModel(offer, optionId, [...before, ...choices])) return [];
    const message = refusalOf(offer, optionId, value);
    const isKnown = offer.options.some(({ id }) => id === optionId);
    return message === null ? [] : [{ path: [...path, isKnown ? 'value' : 'optionId'], message }];
  });
  if (issues.length > 0) throw invalidInput(issues);
}

// An agent may use another form for the models that it offers itself, but on one line, as all its texts.
function formMistake(offer: AgentOffer | null, optionId: string, value: string): string | null {
  const option = offer?.options.find(({ id }) => id === optionId);
  if (option?.values.some((each) => each.value === value)) return null;
  const isModel = option ? option.category === 'model' : optionId === 'model';
  if (isModel) return isModelId(value) ? null : `A model must have only ${modelIdRule}.`;
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(value) ? '"value" must have no control characters and no line breaks.' : null;
}

/**
 * Tells if the offer does not describe an option because the session has another model: models differ in their levels
 * of effort, for example.
 */
function dependsOnModel(offer: AgentOffer, optionId: string, choices: readonly OptionChoice[]): boolean {
  const model = offer.options.find(({ category }) => category === 'model');
  if (!model || model.id === optionId) return false;
  const chosen = choices.findLast((each) => each.optionId === model.id);
  return chosen !== undefined && chosen.value !== model.currentValue;
}
