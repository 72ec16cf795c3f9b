import type { AuditAction } from '../../src/domain/audit/record-audit.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession } from '../support/sessions.ts';
import type { Actor, AuditedAction } from './audit-actor.ts';

async function makeSession({ app }: Actor, organizationId: string) {
  const id = await createSession(app, { organizationId });
  const checkpointId = await saveCheckpoint(app, id);
  return { sessionId: `devin-${id}`, checkpointId: `checkpoint-${checkpointId}` };
}

async function makeSnapshot(actor: Actor, organization: string): Promise<string> {
  const { sessionId } = await makeSession(actor, organization);
  const made = await actor.mutate('createSnapshot', { sessionId, name: 'Base' }, 'snapshot { snapshotId }');
  return made.snapshot.snapshotId;
}

/** The actions on checkpoints and snapshots, with the requests that cause them. */
export const checkpointAuditedActions: Partial<Record<AuditAction, AuditedAction>> = {
  async rewind_session(actor, organization) {
    const { sessionId, checkpointId } = await makeSession(actor, organization);
    await actor.mutate('rewindSession', { sessionId, point: { checkpointId } }, 'session { status }');
    return { target: sessionId, session: sessionId, organization };
  },
  async create_snapshot(actor, organization) {
    return { target: await makeSnapshot(actor, organization), organization };
  },
  async update_snapshot(actor, organization) {
    const target = await makeSnapshot(actor, organization);
    await actor.mutate('updateSnapshot', { snapshotId: target, name: 'Other' }, 'snapshot { name }');
    return { target, organization };
  },
  async delete_snapshot(actor, organization) {
    const target = await makeSnapshot(actor, organization);
    await actor.mutate('deleteSnapshot', { snapshotId: target }, 'deletedSnapshotId');
    return { target, organization };
  },
};
