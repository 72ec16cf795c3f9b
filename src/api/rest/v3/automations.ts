import {
  type AutomationChange,
  createAutomation,
  deleteAutomation,
  updateAutomation,
} from '../../../domain/automations/change-automations.ts';
import { getAutomation, listAutomations, useAutomationsOf } from '../../../domain/automations/model/automations.ts';
import { operatorNames } from '../../../domain/automations/model/conditions.ts';
import type { AutomationInput } from '../../../domain/automations/model/definition.ts';
import type { VersionApi } from '../version-api.ts';
import {
  automationCreateRequest,
  automationResponse,
  automationsPage,
  automationsQuery,
  automationUpdateRequest,
  presentAutomation,
  presentListed,
  presentSources,
  readAutomation,
  schemasResponse,
} from './automation-shapes.ts';
import { pageOf, presentPage } from './dialect.ts';

const collection = '/v3/organizations/{org_id}/automations';
const one = `${collection}/{automation_id}` as const;

/** `/v3/organizations/{org_id}/automations`. */
export function serveAutomations(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listAutomations',
      summary: 'List the automations of an organization, newest first',
      query: automationsQuery,
      answer: pageOf(automationResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const automations = await listAutomations(
        context,
        { organizationId: param('org_id'), ...query },
        automationsPage,
      );
      return presentPage(automations, (automation) => presentListed(context, automation));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [collection],
      name: 'createAutomation',
      summary: 'Make an automation of an organization',
      body: automationCreateRequest,
      answer: automationResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) =>
      presentAutomation(
        context,
        await createAutomation(context, param('org_id'), readAutomation<AutomationInput>(body)),
      ),
  );

  // Must be served before the route of one automation, whose id could be this word.
  api.serve(
    {
      method: 'get',
      paths: [`${collection}/schemas`],
      name: 'getAutomationSchemas',
      summary: 'Read which events triggers can name, their fields, and the operators of conditions',
      answer: schemasResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      await useAutomationsOf(context, param('org_id'));
      return { sources: presentSources(), operators: [...operatorNames] };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [one],
      name: 'getAutomation',
      summary: 'Read an automation, with the next five times of its recurring triggers',
      answer: automationResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const automation = await getAutomation(context, automationRefOf(param));
      return presentAutomation(context, { automation, webhookSecret: null });
    },
  );

  api.serve(
    {
      method: 'patch',
      paths: [one],
      name: 'updateAutomation',
      summary: 'Change an automation: what is left out stays, null clears',
      body: automationUpdateRequest,
      answer: automationResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) => {
      const change = readAutomation<AutomationChange>(body);
      return presentAutomation(context, await updateAutomation(context, automationRefOf(param), change));
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: 'deleteAutomation',
      summary: 'Delete an automation; sessions that it started stay',
      answer: automationResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentListed(context, await deleteAutomation(context, automationRefOf(param))),
  );
}

const automationRefOf = (param: (name: string) => string) => ({
  organizationId: param('org_id'),
  automationId: param('automation_id'),
});
