import { describeRealAgent } from '../support/real-agent-scenarios.ts';
import { findClaude, findCodex } from '../support/real-agents.ts';

for (const agent of [findCodex(), findClaude()]) describeRealAgent(agent);
