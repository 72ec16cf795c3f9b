import { describeRealAgent } from '../support/real-agent-scenarios.ts';
import { findOpencode } from '../support/real-agents.ts';

describeRealAgent(findOpencode());
