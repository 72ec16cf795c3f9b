import type { z } from 'zod';
import { conditionSchema, conditionsSchema } from '../../domain/automations/model/conditions.ts';
import { actionPrompts, definitionSchema, sessionOptions } from '../../domain/automations/model/definition.ts';
import { buildSchema } from '../../domain/environment-builds/request-build.ts';
import { followUpSettingSchema } from '../../domain/follow-ups/change-follow-ups.ts';
import { connectionAccessSchema } from '../../domain/git-connections/connection-input.ts';
import { beginRegistrationSchema } from '../../domain/github-apps/begin-registration.ts';
import { completeInstallationSchema } from '../../domain/github-apps/complete-installation.ts';
import { completeRegistrationSchema } from '../../domain/github-apps/complete-registration.ts';
import { idempotencyKeyLimits } from '../../domain/idempotency.ts';
import { registerGroupsSchema } from '../../domain/identity/idp-groups/register-idp-groups.ts';
import { acuLimitSchema } from '../../domain/identity/organizations/acu-limits.ts';
import { allowedTagsSchema } from '../../domain/identity/organizations/allowed-tags.ts';
import { defaultModelSchema } from '../../domain/identity/organizations/default-models.ts';
import { enterpriseLimitSchema } from '../../domain/identity/organizations/enterprise-limit.ts';
import { inviteSchema } from '../../domain/identity/people/users.ts';
import { signInLinkSchema } from '../../domain/identity/sign-on/sign-in-links.ts';
import { noteFilterSchema } from '../../domain/library/knowledge/notes.ts';
import { accessSchema, pricesSchema } from '../../domain/library/provider-keys/key-input.ts';
import { pullRequestSchema } from '../../domain/open-pull-requests/open-pull-request.ts';
import { sessionRepositorySchema } from '../../domain/repositories/session-repository-input.ts';
import { reviewSchema } from '../../domain/session-reviews/start-review.ts';
import { answerTextSchema } from '../../domain/sessions/answer-question.ts';
import { sessionPointSchema } from '../../domain/sessions/checkpoints/choose-checkpoint.ts';
import { forkSchema } from '../../domain/sessions/checkpoints/fork-session.ts';
import { sessionSecretSchema } from '../../domain/sessions/create-session.ts';
import { messageInputSchema } from '../../domain/sessions/messages.ts';
import { optionChoiceSchema } from '../../domain/sessions/options/check-choices.ts';
import { setOptionsSchema } from '../../domain/sessions/options/set-session-options.ts';
import { presenceReportSchema } from '../../domain/sessions/presence/report-presence.ts';
import { savedViewSchema } from '../../domain/sessions/saved-views.ts';
import { searchQuerySchema } from '../../domain/sessions/search/search-query.ts';
import { sessionTagsSchema } from '../../domain/sessions/tags.ts';
import { maxSearchLength } from '../../domain/text-search.ts';
import { limitsOf, type ValueLimits } from '../../domain/value-limits.ts';
import { pageLimits } from './loaders.ts';
import { maxFilterValues } from './schema/list-inputs.ts';
import { typedResources } from './schema/resources.ts';

/** The domain rules of an input type. `names` maps domain names to names of the input, where they differ. */
interface Rules {
  readonly schema: z.ZodType;
  /** The path from the schema to the object that corresponds to the input. */
  readonly path?: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
}

const automation = (...path: string[]): Rules => ({ schema: definitionSchema, path });

/** The rules of each input type that has limits. The limits themselves are defined in the schemas only. */
const rulesOf: Readonly<Record<string, Rules>> = {
  ...Object.fromEntries(
    typedResources.flatMap(({ typeName, inputs = {} }): [string, Rules][] => [
      ...(inputs.create ? [[`Create${typeName}Input`, { schema: inputs.create }] as [string, Rules]] : []),
      ...(inputs.update ? [[`Update${typeName}Input`, { schema: inputs.update }] as [string, Rules]] : []),
    ]),
  ),
  AddAllowedTagsInput: { schema: allowedTagsSchema },
  AddSessionTagsInput: { schema: sessionTagsSchema },
  AgentOptionInput: { schema: optionChoiceSchema },
  AutomationConcurrencyInput: automation('concurrency'),
  AutomationConditionGroupInput: { schema: conditionsSchema, path: ['any'] },
  AutomationConditionInput: { schema: conditionSchema },
  AutomationConditionsInput: { schema: conditionsSchema },
  AutomationInvocationLimitInput: automation('limits', 'invocations'),
  AutomationLimitsInput: automation('limits'),
  AutomationNetAddressInput: automation('sessionSettings', 'netPolicy', 'allow'),
  AutomationNetPolicyInput: automation('sessionSettings', 'netPolicy'),
  AutomationSecurityProfileInput: automation('securityProfile'),
  AutomationSessionInput: { schema: sessionOptions },
  AutomationToolsInput: automation('tools'),
  BeginGithubAppRegistrationInput: { schema: beginRegistrationSchema },
  CompleteGithubAppInstallationInput: { schema: completeInstallationSchema },
  CompleteGithubAppRegistrationInput: { schema: completeRegistrationSchema },
  DefaultModelInput: { schema: defaultModelSchema },
  EmailNotificationInput: automation('notifications', 'email'),
  EventTriggerInput: automation('triggers'),
  IncomingWebhookTriggerInput: automation('triggers'),
  CreateSignInLinkInput: { schema: signInLinkSchema },
  InviteUsersInput: { schema: inviteSchema },
  KnowledgeNoteFilter: { schema: noteFilterSchema },
  MessageSessionActionInput: { schema: actionPrompts },
  MonitorSessionActionInput: { schema: actionPrompts },
  ProviderKeyPricesInput: { schema: pricesSchema },
  QuestionAnswerInput: { schema: answerTextSchema, path: ['answer'] },
  RegisterIdpGroupsInput: { schema: registerGroupsSchema },
  RemoveAllowedTagsInput: { schema: allowedTagsSchema },
  RemoveSessionTagsInput: { schema: sessionTagsSchema },
  ReplaceAllowedTagsInput: { schema: allowedTagsSchema },
  ReplaceSessionTagsInput: { schema: sessionTagsSchema },
  BuildEnvironmentInput: { schema: buildSchema },
  ForkSessionInput: { schema: forkSchema },
  ScheduleTriggerInput: automation('triggers'),
  SessionPointInput: { schema: sessionPointSchema },
  SendMessageInput: { schema: messageInputSchema, names: { message: 'body' } },
  ReviewPullRequestInput: { schema: reviewSchema },
  SendPresenceInput: { schema: presenceReportSchema },
  OpenPullRequestInput: { schema: pullRequestSchema },
  SessionRepositoryInput: { schema: sessionRepositorySchema },
  SessionSecretInput: { schema: sessionSecretSchema },
  SetAcuLimitInput: { schema: acuLimitSchema },
  SetPullRequestFollowUpInput: { schema: followUpSettingSchema },
  DeleteSavedViewInput: { schema: savedViewSchema },
  SetSavedViewInput: { schema: savedViewSchema },
  SetSessionOptionsInput: { schema: setOptionsSchema },
  SlackNotificationInput: automation('notifications', 'slack'),
  StartSessionActionInput: { schema: actionPrompts },
  TagSessionsInput: { schema: sessionTagsSchema },
  TestGitConnectionInput: { schema: connectionAccessSchema },
  TestProviderKeyInput: { schema: accessSchema(true) },
  UpdateEnterpriseInput: { schema: enterpriseLimitSchema },
  UpdateQueuedMessageInput: { schema: messageInputSchema, names: { message: 'body' } },
};

/** The input types whose limits are defined by schemas of the domain. */
export const inputsWithRules: readonly string[] = Object.keys(rulesOf);

/** An input type, or a field with arguments, whose members may have limits. */
export interface LimitedMembers {
  /** The input type; null for the arguments of a field. */
  readonly typeName: string | null;
  readonly members: readonly { readonly name: string; readonly isList: boolean }[];
}

const pageSize: ValueLimits = { min: 1, max: pageLimits.max };

/**
 * The limits of the members of an input type or of the arguments of a field, by name. Members without limits are
 * omitted.
 */
export function limitsOfMembers({ typeName, members }: LimitedMembers): Readonly<Record<string, ValueLimits>> {
  const ofDomain = limitsByRules(typeName);
  const isFilter = typeName?.endsWith('Filter') ?? false;
  const isBulk = typeName === 'SessionSelection';
  const limits = members.map(({ name, isList }): [string, ValueLimits | undefined] => {
    if (name === 'first' || name === 'last') return [name, pageSize];
    if (typeName === null && name === 'query') return [name, limitsOf(searchQuerySchema, []).query];
    if (name === 'idempotencyKey') return [name, idempotencyKeyLimits];
    if (isFilter && name === 'search') return [name, { maxLength: maxSearchLength }];
    if (isFilter && isList) return [name, { maxItems: maxFilterValues }];
    if (isBulk && name === 'sessionIds') return [name, { minItems: 1, maxItems: pageLimits.max }];
    return [name, ofDomain[name]];
  });
  return Object.fromEntries(limits.filter((each): each is [string, ValueLimits] => each[1] !== undefined));
}

function limitsByRules(typeName: string | null): Readonly<Record<string, ValueLimits>> {
  const rules = typeName === null ? undefined : rulesOf[typeName];
  if (!rules) return {};
  const { schema, path = [], names = {} } = rules;
  return Object.fromEntries(
    Object.entries(limitsOf(schema, path)).map(([name, limits]) => [names[name] ?? name, limits]),
  );
}
