import { describeRealAgent } from '../support/real-agent-scenarios.ts';
import { findGemini } from '../support/real-agents.ts';

describeRealAgent(findGemini());
