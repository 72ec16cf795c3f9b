import { type GraphQLSchema, specifiedDirectives } from 'graphql';
import { builder } from '../builder.ts';
import { deferDirective } from '../defer.ts';
import './acu-limits.ts';
import './agents.ts';
import './api-keys.ts';
import './attachment-uploads.ts';
import './attachments.ts';
import './audit-log.ts';
import './automation-mutations.ts';
import './automation-schemas.ts';
import './automations.ts';
import './bulk-session-acts.ts';
import './consumption.ts';
import './enterprise-sessions.ts';
import './events.ts';
import './ip-access-list.ts';
import './knowledge-folder-mutations.ts';
import './knowledge-mutations.ts';
import './knowledge.ts';
import './legacy-calls.ts';
import './metrics.ts';
import './node.ts';
import './organization-mutations.ts';
import './organization-sessions.ts';
import './organization-tags.ts';
import './organizations.ts';
import './playbook-mutations.ts';
import './playbooks.ts';
import './rate-limit.ts';
import './recurrence-preview.ts';
import './role-assignments.ts';
import './roles.ts';
import './secret-mutations.ts';
import './secrets.ts';
import './service-users.ts';
import './session-acts.ts';
import './session-mutations.ts';
import './session-relations.ts';
import './sessions.ts';
import './subscriptions.ts';
import './users.ts';
import './viewer.ts';
import './webhook-deliveries.ts';
import './webhook-mutations.ts';
import './webhooks.ts';

/** The whole schema, built once. */
export const schema: GraphQLSchema = builder.toSchema({
  sortSchema: true,
  directives: [...specifiedDirectives, deferDirective],
});
