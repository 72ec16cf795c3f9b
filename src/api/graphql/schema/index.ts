import { type GraphQLSchema, specifiedDirectives } from 'graphql';
import { builder } from '../builder.ts';
import { deferDirective } from '../defer.ts';
import { withContract } from '../directives.ts';
import { withGlobalIds } from '../global-ids.ts';
import './abilities.ts';
import './acu-limits.ts';
import './agent-options.ts';
import './agent-programs.ts';
import './agents.ts';
import './attachment-uploads.ts';
import './automation-schemas.ts';
import './bulk-session-acts.ts';
import './consumption.ts';
import './created-edges.ts';
import './event-relations.ts';
import './events.ts';
import './ip-access-list.ts';
import './legacy-calls.ts';
import './lookups-by-key.ts';
import './lookups.ts';
import './maintenance.ts';
import './metrics.ts';
import './node.ts';
import './organization-changes.ts';
import './organization-tags.ts';
import './message-changes.ts';
import './presence.ts';
import './questions.ts';
import './rate-limit.ts';
import './recurrence-preview.ts';
import './resource-changes.ts';
import './resources.ts';
import './role-assignments.ts';
import './session-acts.ts';
import './session-changes.ts';
import './repository-changes.ts';
import './session-relations.ts';
import './session-workspaces.ts';
import './sessions-across.ts';
import './subscriptions.ts';
import './reported-events.ts';
import './usage-event.ts';
import './viewer.ts';

/** The whole schema, built once. */
export const schema: GraphQLSchema = withContract(
  withGlobalIds(builder.toSchema({ sortSchema: true, directives: [...specifiedDirectives, deferDirective] })),
);
