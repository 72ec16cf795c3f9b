import type { AgentReport } from '../../../agents/check/report.ts';
import type { CommonKeySource } from '../../../agents/profile-registry.ts';
import { readyEntries } from '../../../agents/profiles/ready.ts';
import { type AgentPackage, agentPackages } from '../../../agents/programs/packages.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import type { ProgramAct } from './program-rows.ts';

/** The state of a program, on one host or on all. */
export const programStates = ['NOT_INSTALLED', 'INSTALLING', 'INSTALLED', 'REMOVING', 'FAILED'] as const;
/** See {@link programStates}. */
export type ProgramState = (typeof programStates)[number];

/** Where a program was found. */
export type ProgramSource = 'PATH' | 'AGENTS_DIRECTORY';

/** The program of a ready agent on the host of a live worker. */
export interface HostProgram {
  readonly workerId: string;
  readonly host: string;
  readonly state: ProgramState;
  readonly version: string | null;
  readonly source: ProgramSource | null;
  readonly path: string | null;
  readonly progress: string | null;
  readonly progressPercent: number | null;
  readonly error: string | null;
  readonly canInstall: boolean;
  readonly isChecking: boolean;
  readonly lastCheck: ProgramCheck | null;
}

/** A check of an agent. */
export interface ProgramCheck {
  readonly at: Date;
  readonly report: AgentReport;
}

/** A ready agent that can be installed, over all hosts. */
export interface AgentProgramRecord {
  readonly package: AgentPackage;
  readonly name: string;
  readonly keySource: CommonKeySource;
  readonly hosts: readonly HostProgram[];
}

interface Row extends Omit<HostProgram, 'state' | 'isChecking' | 'lastCheck'> {
  readonly agentId: string;
  readonly request: ProgramAct | null;
  readonly checkedAt: Date | null;
  readonly checkReport: AgentReport | null;
}

/** Maximum number of hosts that are listed. */
const maxHosts = 100;

const readRows = `
  select agent_id as "agentId", worker_id as "workerId", host, version, source, path, can_install as "canInstall", request,
         progress, progress_percent as "progressPercent", error, checked_at as "checkedAt", check_report as "checkReport"
    from agent_program where enterprise_id = $1 and expires_at > now() and agent_id = any($2::text[])
   order by host, worker_id limit $3`;

/** Lists the ready agents that can be installed, with their programs on the hosts of the live workers, at most 100. FORBIDDEN. */
export async function listAgentPrograms(context: Context): Promise<AgentProgramRecord[]> {
  requireEnterprisePermission(context.viewer, permissionFor.viewAgentPrograms);
  return readPrograms(context, Object.keys(agentPackages));
}

/** {@link listAgentPrograms} without a check of permissions, for these agents. */
export async function readPrograms(context: Context, agentIds: readonly string[]): Promise<AgentProgramRecord[]> {
  const rows = await context.store.query<Row>(readRows, [
    context.viewer.enterpriseId,
    agentIds,
    agentIds.length * maxHosts,
  ]);
  return agentIds.flatMap((agentId) => {
    const found = agentPackages[agentId];
    if (found === undefined) return [];
    const hosts = rows.filter((row) => row.agentId === agentId).map(toHost);
    const name = String(readyEntries[agentId]?.name ?? agentId);
    return [{ package: found, name, keySource: context.agents.keySourceOf(agentId), hosts }];
  });
}

function toHost({ request, checkedAt, checkReport, ...row }: Row): HostProgram {
  return {
    ...row,
    state: stateOf(request, row),
    isChecking: request === 'check',
    lastCheck: checkedAt === null || checkReport === null ? null : { at: checkedAt, report: checkReport },
  };
}

function stateOf(request: ProgramAct | null, { error, path }: Pick<Row, 'error' | 'path'>): ProgramState {
  if (request === 'install') return 'INSTALLING';
  if (request === 'remove') return 'REMOVING';
  if (error !== null) return 'FAILED';
  return path === null ? 'NOT_INSTALLED' : 'INSTALLED';
}

/** The state over all hosts: the one that needs most attention. */
export function overallState(hosts: readonly HostProgram[]): ProgramState {
  const order: readonly ProgramState[] = ['INSTALLING', 'REMOVING', 'FAILED', 'INSTALLED'];
  return order.find((state) => hosts.some((host) => host.state === state)) ?? 'NOT_INSTALLED';
}

/** The host whose program stands for all: the one with an outdated version, else the first one that has the program. */
export function shownHost({ package: { version }, hosts }: AgentProgramRecord): HostProgram | null {
  const withProgram = hosts.filter(({ path }) => path !== null);
  return withProgram.find((host) => isOutdated(host, version)) ?? withProgram[0] ?? null;
}

/** Returns true if an installation would replace the version in AGENTS_DIR. */
export function isOutdated({ source, version }: Pick<HostProgram, 'source' | 'version'>, pinned: string): boolean {
  return source === 'AGENTS_DIRECTORY' && version !== pinned;
}

/** The check that stands for all hosts: the latest one that failed, else the latest one. */
export function shownCheck(hosts: readonly HostProgram[]): ProgramCheck | null {
  const checks = hosts.flatMap(({ lastCheck }) => lastCheck ?? []).toSorted((a, b) => +b.at - +a.at);
  return checks.find(({ report }) => report.failure !== null) ?? checks[0] ?? null;
}
