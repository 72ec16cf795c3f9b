import type { ObjectRef, OutputRef } from '@pothos/core';
import { createdCursor } from '../../../domain/sorted-pages.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { ApiKeyEdge } from './api-key-lists.ts';
import { CreateApiKeyPayload } from './api-keys.ts';
import { CreateAutomationPayload } from './automation-mutations.ts';
import { AutomationEdge } from './automations.ts';
import { KnowledgeFolderEdge, KnowledgeNoteEdge } from './knowledge.ts';
import { CreateKnowledgeFolderPayload } from './knowledge-folder-mutations.ts';
import { CreateKnowledgeNotePayload } from './knowledge-mutations.ts';
import { CreateOrganizationPayload } from './organization-mutations.ts';
import { OrganizationEdge } from './organizations.ts';
import { CreatePlaybookPayload } from './playbook-mutations.ts';
import { PlaybookEdge } from './playbooks.ts';
import { CreateRolePayload, RoleEdge } from './roles.ts';
import { CreateSecretPayload } from './secret-mutations.ts';
import { SecretEdge } from './secrets.ts';
import { CreateServiceUserPayload, ServiceUserEdge } from './service-users.ts';
import { CreateSessionPayload } from './session-mutations.ts';
import { SessionEdge } from './sessions.ts';
import { CreateUserPayload, UserEdge } from './users.ts';
import { CreateWebhookEndpointPayload } from './webhook-mutations.ts';
import { WebhookEndpointEdge } from './webhooks.ts';

/** An object with a position in a list sorted by creation time. */
interface Created {
  readonly id: string;
  readonly createdAt: Date;
}

/**
 * Adds the edge of the created object to a payload: `playbookEdge` beside `playbook`. Clients insert it into their
 * cached lists. `list`: the name of the list in its cursors.
 */
function addCreatedEdge<N extends string>(
  payload: ObjectRef<SchemaTypes, { readonly [K in N]: Created | null }>,
  member: N,
  edge: OutputRef,
  list: string,
): void {
  builder.objectField(payload, `${member}Edge`, (t) =>
    t.field({
      type: edge,
      nullable: true,
      description: `Edge of \`${member}\` for lists that a client keeps. The cursor is for lists ordered by \`CREATED_AT\`. Null if \`userErrors\` is not empty.`,
      resolve: (result) => {
        const node: Created | null = result[member];
        return (node && { cursor: createdCursor(list, node), node }) as never;
      },
    }),
  );
}

addCreatedEdge(CreateApiKeyPayload, 'apiKey', ApiKeyEdge, 'keys');
addCreatedEdge(CreateAutomationPayload, 'automation', AutomationEdge, 'automations');
addCreatedEdge(CreateKnowledgeFolderPayload, 'knowledgeFolder', KnowledgeFolderEdge, 'folders');
addCreatedEdge(CreateKnowledgeNotePayload, 'knowledgeNote', KnowledgeNoteEdge, 'notes');
addCreatedEdge(CreateOrganizationPayload, 'organization', OrganizationEdge, 'organizations');
addCreatedEdge(CreatePlaybookPayload, 'playbook', PlaybookEdge, 'playbooks');
addCreatedEdge(CreateRolePayload, 'role', RoleEdge, 'roles');
addCreatedEdge(CreateSecretPayload, 'secret', SecretEdge, 'secrets');
addCreatedEdge(CreateServiceUserPayload, 'serviceUser', ServiceUserEdge, 'serviceUsers');
addCreatedEdge(CreateSessionPayload, 'session', SessionEdge, 'sessions.createdAt');
addCreatedEdge(CreateUserPayload, 'user', UserEdge, 'users');
addCreatedEdge(CreateWebhookEndpointPayload, 'webhookEndpoint', WebhookEndpointEdge, 'webhookEndpoints');
