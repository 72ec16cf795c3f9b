import { agentPackages } from '../../../agents/programs/packages.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type AgentProgramRecord, readPrograms } from './list-programs.ts';
import type { ProgramAct } from './program-rows.ts';

/** The rows of live workers to which an act applies, by `request` being null besides. */
const applies: Readonly<Record<ProgramAct, string>> = {
  install: 'can_install',
  remove: `can_install and source = 'AGENTS_DIRECTORY'`,
  check: 'path is not null',
};

/**
 * Requests an act on an agent's program from all live workers, which begin at once; returns the program. FORBIDDEN;
 * INVALID_INPUT for an agent without a package; INVALID_STATE if no worker can do it, or one is at work on the program.
 */
export async function requestProgramAct(
  context: Context,
  act: ProgramAct,
  agentId: string,
): Promise<AgentProgramRecord> {
  const { viewer, store, notifier } = context;
  requireEnterprisePermission(viewer, permissionFor.changeAgentPrograms);
  if (!Object.hasOwn(agentPackages, agentId)) {
    const known = Object.keys(agentPackages).join(', ');
    throw refuse(['agentId'], `"agentId" must be one of ${known}, but was ${JSON.stringify(agentId.slice(0, 80))}.`);
  }
  await store.transact(async (tx) => {
    const changed = await tx.query(
      `update agent_program set request = $2, error = case when $2 = 'check' then error else null end
        where enterprise_id = $3 and agent_id = $1 and expires_at > now() and request is null and ${applies[act]} returning worker_id`,
      [agentId, act, viewer.enterpriseId],
    );
    if (changed.length === 0)
      throw new DomainError('INVALID_STATE', await readReason(tx, act, agentId, viewer.enterpriseId));
    await audit(context, tx, 'update_enterprise_settings', {
      organizationId: null,
      targetId: viewer.enterpriseId,
      data: { setting: 'agentPrograms', act, agent: agentId, hosts: changed.length },
    });
    tx.afterCommit(() => notifier.notify('agent-programs'));
  });
  const [program] = await readPrograms(context, [agentId]);
  if (program === undefined) throw new Error(`There is no package of ${agentId}.`);
  return program;
}

interface Situation {
  readonly count: number;
  readonly isBusy: boolean;
  readonly canInstall: boolean;
  readonly isInPath: boolean;
}

async function readReason(tx: Transaction, act: ProgramAct, agentId: string, enterpriseId: string): Promise<string> {
  const [found] = await tx.query<Situation>(
    `select count(*)::int as count, coalesce(bool_or(request is not null), false) as "isBusy",
            coalesce(bool_or(can_install), false) as "canInstall", coalesce(bool_or(source = 'PATH'), false) as "isInPath"
       from agent_program where enterprise_id = $2 and agent_id = $1 and expires_at > now()`,
    [agentId, enterpriseId],
  );
  if (!found || found.count === 0) return 'No worker is running, so no host can do this.';
  if (found.isBusy) return `An installation, removal or check of ${agentId} is in progress. Wait until it ends.`;
  if (act === 'check') return `The program of ${agentId} is not installed.`;
  if (!found.canInstall) return 'Installation is switched off for this service (AGENTS_INSTALL).';
  if (found.isInPath)
    return `The program of ${agentId} is in PATH and was not installed by the service. Remove it the way you installed it.`;
  return `The program of ${agentId} is not installed.`;
}
